import type { ImportFor } from '../../project/project-module.ts'

type Fields = Record<string, unknown>

interface Chunk {
  message?: { response_metadata?: Fields; usage_metadata?: Fields }
  generationInfo?: Fields
}

interface ModelEvent {
  event: string
  usage?: Fields
  responseMetadata?: Fields
}

/** The methods of LangChain's chat models through which a graph reads events of a model. */
export interface ChatModelMethods {
  _streamChatModelEvents(...given: unknown[]): AsyncIterable<ModelEvent>
  _streamResponseChunks(...given: unknown[]): AsyncIterable<Chunk>
}

const MODULE = '@langchain/core/language_models/chat_models'
const kept = new WeakSet<object>()

/** Prepares the chat models of the project that `file` belongs to. Does nothing in a project without LangChain. */
export async function prepareModels(importFor: ImportFor, file: string): Promise<void> {
  const found = await importFor<{ BaseChatModel?: { prototype: Partial<ChatModelMethods> } }>(
    file,
    MODULE,
  ).catch(() => undefined)
  if (found?.BaseChatModel !== undefined) keepModelFacts(found.BaseChatModel.prototype)
}

/**
 * Adds the name of the model and the parts of usage, such as cached tokens, to the event that ends a message. For
 * models without events of their own, LangChain makes the events of protocol v2 from chunks and leaves both out, so
 * that costs would be wrong (V-47). Changes `models`, the prototype of all chat models, once.
 */
export function keepModelFacts(models: Partial<ChatModelMethods>): void {
  const { _streamChatModelEvents: eventsOf } = models
  if (eventsOf === undefined || kept.has(models)) return
  kept.add(models)
  models._streamChatModelEvents = async function* (this: ChatModelMethods, ...given) {
    const facts: { metadata: Fields; usage: Fields | undefined } = { metadata: {}, usage: undefined }
    const chunksOf = this._streamResponseChunks.bind(this)
    const watched = Object.create(this) as ChatModelMethods
    watched._streamResponseChunks = async function* (...asked) {
      for await (const chunk of chunksOf(...asked)) {
        const { response_metadata, usage_metadata } = chunk.message ?? {}
        Object.assign(facts.metadata, chunk.generationInfo, response_metadata)
        if (usage_metadata !== undefined) facts.usage = sum(facts.usage, usage_metadata)
        yield chunk
      }
    }
    for await (const event of eventsOf.apply(watched, given)) {
      if (event.event !== 'message-finish') yield event
      else
        yield {
          ...event,
          ...(facts.usage !== undefined && { usage: facts.usage }),
          responseMetadata: { ...facts.metadata, ...event.responseMetadata },
        }
    }
  }
}

/** Adds two counts of tokens, including all their parts. */
function sum(before: Fields | undefined, added: Fields): Fields {
  const total: Fields = { ...before }
  for (const [name, value] of Object.entries(added)) {
    const known = total[name]
    if (typeof value === 'number') total[name] = (typeof known === 'number' ? known : 0) + value
    else if (typeof value === 'object' && value !== null) total[name] = sum(known as Fields, value as Fields)
  }
  return total
}
