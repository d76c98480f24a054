import { type JsonObject, type JsonValue, isObject, text } from '../../../schema/json.ts'
import { mlflowValue } from './frameworks/mlflow.ts'
import { type Found, type SideContext, filled } from './side-source.ts'
import { type SpanView, listOf, readJson } from '../span/view.ts'

/** The AI SDK's prompt, the arguments of its tools, the values that it embeds. */
export function vercelInputs({ view }: SideContext): Found {
  const messages = view.json('ai.prompt.messages')
  if (Array.isArray(messages)) return { side: { value: { messages }, dialect: 'vercel-ai' } }
  const prompt = view.json('ai.prompt')
  if (isObject(prompt)) return { side: { value: prompt, dialect: 'vercel-ai' } }
  const args = view.json('ai.toolCall.args', 'ai.toolCall.input')
  if (args !== undefined) return filled(args)
  const values = view.get('ai.values')
  if (Array.isArray(values)) return { value: { input: values.map(readJson) } }
  return filled(prompt) ?? filled(view.json('ai.value'))
}

/** The AI SDK's answer, results of its tools, its embeddings. */
export function vercelOutputs({ view }: SideContext): Found {
  const value: JsonObject = {}
  const add = (key: string, found: JsonValue | undefined): void => {
    if (filled(found) !== undefined) value[key] = found
  }
  add('text', view.text('ai.response.text', 'ai.result.text'))
  add('reasoning', view.get('ai.response.reasoning'))
  add('toolCalls', view.json('ai.response.toolCalls', 'ai.result.toolCalls'))
  add('object', view.json('ai.response.object', 'ai.result.object'))
  if (Object.keys(value).length > 0) {
    add('finishReason', view.text('ai.response.finishReason', 'ai.finishReason'))
    return { side: { value, dialect: 'vercel-ai' } }
  }
  const result = filled(view.json('ai.toolCall.result', 'ai.toolCall.output'))
  if (result !== undefined) return result
  const embeddings = view.get('ai.embeddings')
  if (Array.isArray(embeddings)) return { value: { embeddings: embeddings.map(readJson) } }
  const embedding = view.json('ai.embedding')
  return embedding === undefined ? undefined : { value: { embeddings: [embedding] } }
}

/** Gemini's answer, which Google's ADK logs without the candidate around it. */
export function adkOutput({ view }: SideContext): Found {
  const answer = view.json('gcp.vertex.agent.llm_response')
  if (!isObject(answer)) return undefined
  return isObject(answer['content']) ? { value: { candidates: [answer] } } : filled(answer)
}

/** The complete answer that Logfire's client integrations record; for a stream, its text. */
export function logfireOutput({ view }: SideContext): Found {
  const answer = view.json('response_data')
  if (!isObject(answer)) return undefined
  const streamed = text(answer['combined_chunk_content'])
  if (streamed !== undefined) return { value: { role: 'assistant', content: streamed } }
  return filled(answer)
}

/** Attributes that Mastra's exporter writes for its own steps; their names contain the kind of the step. */
export function mastra(view: SpanView, side: 'input' | 'output'): Found {
  const type = view.text('mastra.span.type')
  return type === undefined ? undefined : filled(view.json(`mastra.${type}.${side}`))
}

/** The texts in OpenInference's embedding spans, one attribute each. Vectors are not read. */
export function embedded({ view }: SideContext): Found {
  const texts = listOf(view, 'embedding.embeddings').flatMap((entry) => {
    const { embedding } = isObject(entry) ? entry : {}
    return (isObject(embedding) ? text(embedding['text']) : undefined) ?? []
  })
  return texts.length === 0 ? undefined : { value: { input: texts } }
}

/** The query and documents given to a reranker of OpenInference. */
export function rerankerInputs({ view }: SideContext): Found {
  const query = view.text('reranker.query')
  const documents = listOf(view, 'reranker.input_documents').map(readDocument)
  if (query === undefined && documents.length === 0) return undefined
  return { value: { ...(query !== undefined && { query }), ...(documents.length > 0 && { documents }) } }
}

/** Documents that a retriever or reranker returned, in the shape that LangSmith's retrievers log. */
export function retrieved({ view, runType }: SideContext): Found {
  if (runType !== 'retriever') return undefined
  const listed = [...listOf(view, 'retrieval.documents'), ...listOf(view, 'reranker.output_documents')]
  const whole = view.json('gen_ai.retrieval.documents') ?? mlflowValue(view, 'mlflow.spanOutputs') ?? []
  const sent = listed.length > 0 ? listed : whole
  const documents = (Array.isArray(sent) ? sent : []).map(readDocument)
  return documents.length === 0 ? undefined : { value: { documents } }
}

function readDocument(entry: JsonValue): JsonValue {
  const document = isObject(entry) && isObject(entry['document']) ? entry['document'] : entry
  if (!isObject(document)) return { page_content: document, type: 'Document', metadata: {} }
  const { content, metadata, ...rest } = document
  const read = metadata === undefined || metadata === null ? {} : readJson(metadata)
  const about = isObject(read) ? read : { value: read }
  return { page_content: content ?? '', type: 'Document', metadata: about, ...rest }
}
