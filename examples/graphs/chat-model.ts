import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, type BaseMessage, type UsageMetadata } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'

/** A streamed piece of an answer. */
interface Piece {
  text?: string
  usage?: UsageMetadata
  /** True for a call of the tool `clock`. */
  clock?: boolean
}

type ChunkFields = ConstructorParameters<typeof AIMessageChunk>[0]

type Answer = (messages: readonly BaseMessage[], signal: AbortSignal | undefined) => AsyncIterable<Piece>

/** The model that the environment has a key for; without one, an offline model that streams words. */
export function createChatModel(env: Readonly<Record<string, string | undefined>>): BaseChatModel {
  const { OPENAI_API_KEY: openai, ANTHROPIC_API_KEY: anthropic, MODEL } = env
  if (openai)
    return new StreamedModel('openai', MODEL ?? 'gpt-4.1-mini', askOpenAi(openai, MODEL ?? 'gpt-4.1-mini'))
  if (anthropic) {
    const name = MODEL ?? 'claude-haiku-4-5'
    return new StreamedModel('anthropic', name, askAnthropic(anthropic, name))
  }
  return new StreamedModel('offline', 'parrot', parrot)
}

class StreamedModel extends BaseChatModel {
  readonly provider: string
  readonly modelName: string
  readonly answer: Answer

  constructor(provider: string, modelName: string, answer: Answer) {
    super({})
    this.provider = provider
    this.modelName = modelName
    this.answer = answer
  }

  static override lc_name(): string {
    return 'ExampleChatModel'
  }

  _llmType() {
    return this.provider
  }

  /** Provider and model for traces. */
  override getLsParams() {
    return { ls_provider: this.provider, ls_model_name: this.modelName, ls_model_type: 'chat' as const }
  }

  /** Answers without streaming: joins the pieces to one message with its tool calls and usage. */
  async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    let whole: AIMessageChunk | undefined
    for await (const { message } of this._streamResponseChunks(messages, options)) {
      const piece = message as AIMessageChunk
      whole = whole === undefined ? piece : whole.concat(piece)
    }
    const { content = '', tool_calls = [], usage_metadata, id } = whole ?? {}
    const message = new AIMessage({
      content,
      tool_calls,
      ...(id !== undefined && { id }),
      ...(usage_metadata !== undefined && { usage_metadata }),
    })
    return { generations: [{ text: message.text, message }] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const id = `msg-${crypto.randomUUID()}`
    for await (const { text = '', usage, clock } of this.answer(messages, options.signal)) {
      const call = {
        id: `call-${crypto.randomUUID()}`,
        name: 'clock',
        args: '{}',
        index: 0,
        type: 'tool_call_chunk' as const,
      }
      const tool_call_chunks = clock === true ? [call] : []
      const usage_metadata = usage === undefined ? {} : { usage_metadata: usage }
      const fields = { id, content: text, tool_call_chunks, ...usage_metadata } as ChunkFields
      const message = new AIMessageChunk(fields)
      const chunk = new ChatGenerationChunk({ text, message })
      yield chunk
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
    }
  }
}

/** A model that repeats the last message, one word at a time. A question about the time makes it call the tool. */
async function* parrot(messages: readonly BaseMessage[]): AsyncIterable<Piece> {
  const last = messages.at(-1)
  const heard = last?.text ?? ''
  const isTool = last?.getType() === 'tool'
  const asksForTime = !isTool && /\btime\b/i.test(heard)
  const words = asksForTime ? [] : (isTool ? `It is ${heard}.` : `You said: ${heard}`).split(/(?<= )/)
  for (const text of words) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    yield { text }
  }
  const input_tokens = messages.reduce((sum, message) => sum + message.text.split(/\s+/).length, 0)
  const usage = { input_tokens, output_tokens: words.length, total_tokens: input_tokens + words.length }
  yield { usage, clock: asksForTime }
}

const ROLES: Record<string, string> = { human: 'user', ai: 'assistant', system: 'system' }

/** Messages in the form that both providers accept; a tool's result becomes text. */
function toTurns(messages: readonly BaseMessage[]): { role: string; content: string }[] {
  return messages
    .filter((message) => message.text !== '')
    .map((message) => ({ role: ROLES[message.getType()] ?? 'user', content: message.text }))
}

function askOpenAi(key: string, model: string): Answer {
  return async function* (messages, signal) {
    const body = { model, messages: toTurns(messages), stream: true, stream_options: { include_usage: true } }
    const headers = { authorization: `Bearer ${key}` }
    for await (const event of streamJson(
      'https://api.openai.com/v1/chat/completions',
      headers,
      body,
      signal,
    )) {
      const { choices, usage } = event as OpenAiEvent
      const text = choices?.[0]?.delta?.content
      if (text) yield { text }
      if (usage) yield { usage: usageOf(usage.prompt_tokens, usage.completion_tokens) }
    }
  }
}

interface OpenAiEvent {
  choices?: { delta?: { content?: string | null } }[]
  usage?: { prompt_tokens: number; completion_tokens: number } | null
}

function askAnthropic(key: string, model: string): Answer {
  return async function* (messages, signal) {
    const turns = toTurns(messages)
    const system = turns.filter(({ role }) => role === 'system').map(({ content }) => content)
    const body = {
      model,
      max_tokens: 1_024,
      stream: true,
      messages: turns.filter(({ role }) => role !== 'system'),
      ...(system.length === 0 ? {} : { system: system.join('\n') }),
    }
    const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
    let input = 0
    for await (const event of streamJson('https://api.anthropic.com/v1/messages', headers, body, signal)) {
      const { message, delta, usage } = event as AnthropicEvent
      input = message?.usage?.input_tokens ?? input
      if (delta?.text) yield { text: delta.text }
      if (usage) yield { usage: usageOf(input, usage.output_tokens) }
    }
  }
}

interface AnthropicEvent {
  message?: { usage?: { input_tokens: number } }
  delta?: { text?: string }
  usage?: { output_tokens: number }
}

function usageOf(input_tokens: number, output_tokens: number): UsageMetadata {
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }
}

/** The `data:` lines of a server-sent event stream as JSON. */
async function* streamJson(
  url: string,
  headers: Record<string, string>,
  body: object,
  signal: AbortSignal | undefined,
): AsyncGenerator {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  if (!response.ok || response.body === null)
    throw new Error(`${url}: ${response.status} ${await response.text()}`)
  let held = ''
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (held + text).split('\n')
    held = lines.pop() ?? ''
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : ''
      if (data.startsWith('{')) yield JSON.parse(data)
    }
  }
}
