import { answerId } from '../../traces/answer-id.ts'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { asksForCall, responseEvents, responseOf, type ResponsesRequest } from './fake-responses.ts'

/** Delay before the first streamed piece: a lower bound for the time to first token. */
export const FIRST_PIECE_MS = 60
/** The text of every answer that is not a tool call. */
export const REPLY = 'Hello! How can I help you today?'
export const WEATHER_REPLY = 'It is 18 degrees and sunny in Paris.'
export const WEATHER_CALL = {
  id: 'call_weather_1',
  name: 'get_weather',
  args: { city: 'Paris', unit: 'celsius' },
}
/** A request for this model is answered with an error. */
export const BROKEN_MODEL = 'gpt-broken'

interface VendorRequest {
  model: string
  messages: { role: string; content: unknown }[]
  tools?: unknown[]
  stream?: boolean
  stream_options?: { include_usage?: boolean }
}

/**
 * A model vendor with fixed answers: OpenAI chat completions and responses, Anthropic messages (all three streamed or
 * whole), and OpenAI embeddings.
 */
export interface FakeVendor {
  readonly url: string
  stop(): Promise<void>
}

/** The words of the answer. */
function pieces(request: VendorRequest): string[] {
  return replyTo(request).split(/(?<= )/)
}

function callsTool({ tools, messages }: VendorRequest): boolean {
  return tools !== undefined && !hasToolResult(messages)
}

/**
 * True if the messages contain a tool's result: for OpenAI a message with role tool, for Anthropic a user message of
 * tool_result blocks.
 */
function hasToolResult(messages: VendorRequest['messages']): boolean {
  const last = messages.at(-1)
  return last?.role === 'tool' || Array.isArray(last?.content)
}

function replyTo(request: VendorRequest): string {
  return hasToolResult(request.messages) ? WEATHER_REPLY : REPLY
}

function openAiUsage(request: VendorRequest) {
  const [prompt_tokens, completion_tokens] = callsTool(request) ? [82, 17] : [25, 9]
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 10, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  }
}

function openAiCall(index?: number) {
  const { id, name, args } = WEATHER_CALL
  return {
    ...(index !== undefined && { index }),
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }
}

function openAiCompletion(request: VendorRequest) {
  const message = callsTool(request)
    ? { role: 'assistant', content: null, tool_calls: [openAiCall()] }
    : { role: 'assistant', content: replyTo(request) }
  return {
    id: answerId('chatcmpl', request),
    object: 'chat.completion',
    created: 1_795_166_133,
    model: request.model,
    choices: [{ index: 0, message, finish_reason: callsTool(request) ? 'tool_calls' : 'stop' }],
    usage: openAiUsage(request),
  }
}

function openAiChunks(request: VendorRequest): string[] {
  const chunk = (choices: unknown[], usage: unknown = null): string =>
    `data: ${JSON.stringify({ id: answerId('chatcmpl', request), object: 'chat.completion.chunk', created: 1_795_166_133, model: request.model, choices, usage })}\n\n`
  const delta = (piece: object, finish_reason: string | null = null): string =>
    chunk([{ index: 0, delta: piece, finish_reason }])
  const middle = callsTool(request)
    ? [delta({ tool_calls: [openAiCall(0)] }), delta({}, 'tool_calls')]
    : [...pieces(request).map((content) => delta({ content })), delta({}, 'stop')]
  const usage = request.stream_options?.include_usage === true ? [chunk([], openAiUsage(request))] : []
  return [delta({ role: 'assistant', content: '' }), ...middle, ...usage, 'data: [DONE]\n\n']
}

const ANTHROPIC_USAGE = {
  input_tokens: 60,
  output_tokens: 75,
  cache_read_input_tokens: 2000,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 },
}

function anthropicContent(request: VendorRequest) {
  const { id, name, args } = WEATHER_CALL
  return callsTool(request)
    ? { type: 'tool_use', id, name, input: args }
    : { type: 'text', text: replyTo(request) }
}

function anthropicMessage(request: VendorRequest) {
  return {
    id: answerId('msg', request),
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [anthropicContent(request)],
    stop_reason: callsTool(request) ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: ANTHROPIC_USAGE,
  }
}

function anthropicEvents(request: VendorRequest): string[] {
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
  const message = anthropicMessage(request)
  const content = anthropicContent(request)
  const [block, deltas] =
    content.type === 'tool_use'
      ? [
          { ...content, input: {} },
          [{ type: 'input_json_delta', partial_json: JSON.stringify(content.input) }],
        ]
      : [{ type: 'text', text: '' }, pieces(request).map((text) => ({ type: 'text_delta', text }))]
  const usage = { ...ANTHROPIC_USAGE, output_tokens: 1 }
  return [
    event('message_start', { message: { ...message, content: [], stop_reason: null, usage } }),
    event('content_block_start', { index: 0, content_block: block }),
    ...deltas.map((delta) => event('content_block_delta', { index: 0, delta })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: ANTHROPIC_USAGE.output_tokens },
    }),
    event('message_stop', {}),
  ]
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function sendStream(res: ServerResponse, sent: readonly string[]): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  await delay(FIRST_PIECE_MS)
  for (const piece of sent) res.write(piece)
  res.end()
}

function responsesScript(request: ResponsesRequest) {
  const answersTool = request.tools !== undefined && !asksForCall(request)
  return { text: answersTool ? WEATHER_REPLY : REPLY, call: WEATHER_CALL }
}

/** Two numbers for each text; in base64 if the request has this format. */
function openAiEmbeddings({ model, input, encoding_format }: EmbeddingsRequest) {
  const vector = [0.25, -0.5]
  const embedding =
    encoding_format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector
  const data = [input].flat().map((_, index) => ({ object: 'embedding', index, embedding }))
  return { object: 'list', model, data, usage: { prompt_tokens: 8, total_tokens: 8 } }
}

interface EmbeddingsRequest {
  model: string
  input: string | string[]
  encoding_format?: string
}

type Request = VendorRequest & ResponsesRequest & EmbeddingsRequest

/** For each path, the complete answer and the stream. */
const WHOLE: Record<string, (request: Request) => object> = {
  '/v1/messages': anthropicMessage,
  '/v1/chat/completions': openAiCompletion,
  '/v1/responses': (request) => responseOf(request, responsesScript(request)),
  '/v1/embeddings': openAiEmbeddings,
}
const STREAMED: Record<string, (request: Request) => string[]> = {
  '/v1/messages': anthropicEvents,
  '/v1/chat/completions': openAiChunks,
  '/v1/responses': (request) => responseEvents(request, responsesScript(request)),
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const request = JSON.parse(await text(req)) as Request
  const [path = ''] = (req.url ?? '').split('?')
  const [whole, streamed] = [WHOLE[path], STREAMED[path]]
  if (request.model === BROKEN_MODEL) {
    sendJson(res, 400, { error: { message: 'this model is broken', type: 'invalid_request_error' } })
  } else if (request.stream === true && streamed !== undefined) await sendStream(res, streamed(request))
  else if (whole !== undefined) sendJson(res, 200, whole(request))
  else sendJson(res, 404, { error: { message: `no such path: ${path}` } })
}

/** Starts a fake vendor on a free port. The base URL of clients is `url` (Anthropic) or `url/v1` (OpenAI). */
export async function startFakeVendor(): Promise<FakeVendor> {
  // Clients close idle connections: a request that is sent while the server closes its connection gets ECONNRESET.
  const server = createServer(
    { keepAliveTimeout: 0 },
    (req, res) => void answer(req, res).catch(() => res.destroy()),
  )
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
