import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type MessagesBody, messagesAnswer, messagesAsked, messagesStream } from './anthropic.ts'
import { billed, FIRST_PIECE_MS, type VendorCall } from './call.ts'
import {
  type GeminiBody,
  geminiAnswer,
  geminiAsked,
  geminiStream,
  type OllamaBody,
  ollamaAnswer,
  ollamaAsked,
  ollamaStream,
} from './gemini-ollama.ts'
import { type ChatBody, chatAnswer, chatAsked, chatStream } from './openai-chat.ts'
import { type ResponsesBody, responsesAnswer, responsesAsked, responsesStream } from './openai-responses.ts'

/**
 * A fake vendor that records the bill of every call: OpenAI chat completions and Responses, Anthropic, Gemini and
 * Ollama.
 */
export interface MeteredVendor {
  readonly url: string
  /** The calls since the previous call of `take`, in order. */
  take(): VendorCall[]
  stop(): Promise<void>
}

interface Answer {
  call: VendorCall
  whole: object
  stream: string[]
}

const GEMINI = /^\/(?:v1|v1beta|v1beta1)\/(?:.*\/)?models\/([^:/]+):(generateContent|streamGenerateContent)$/

/** The answer for a path; undefined for unknown paths. */
function answerTo(path: string, body: unknown, id: string): Answer | undefined {
  if (path.endsWith('/chat/completions')) {
    const call = billed('openai', chatAsked(body as ChatBody))
    return { call, whole: chatAnswer(call, id), stream: chatStream(call, id, body as ChatBody) }
  }
  if (path.endsWith('/responses')) {
    const call = billed('openai', responsesAsked(body as ResponsesBody))
    return { call, whole: responsesAnswer(call, id), stream: responsesStream(call, id) }
  }
  if (path.endsWith('/messages')) {
    const call = billed('anthropic', messagesAsked(body as MessagesBody))
    return { call, whole: messagesAnswer(call, id), stream: messagesStream(call, id) }
  }
  if (path === '/api/chat') {
    const call = billed('ollama', ollamaAsked(body as OllamaBody))
    return { call, whole: ollamaAnswer(call), stream: ollamaStream(call) }
  }
  const [, model, method] = GEMINI.exec(path) ?? []
  if (model === undefined) return undefined
  const call = billed('google', geminiAsked(body as GeminiBody, model, method === 'streamGenerateContent'))
  return { call, whole: geminiAnswer(call, id), stream: geminiStream(call, id) }
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/**
 * Starts a vendor on a free port. The base URL of clients is `url` (Anthropic, Gemini, Ollama) or `url/v1` (OpenAI).
 */
export async function startMeteredVendor(): Promise<MeteredVendor> {
  let calls: VendorCall[] = []
  let count = 0

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const [path = ''] = (req.url ?? '').split('?')
    const body: unknown = JSON.parse((await text(req)) || '{}')
    const answer = answerTo(path, body, `${process.pid}${String(++count).padStart(20, '0')}`)
    if (answer === undefined) return sendJson(res, 404, { error: { message: `no such path: ${path}` } })
    const { call } = answer
    calls.push(call)
    if (call.refused) {
      const error = { type: 'invalid_request_error', message: 'this model is broken', code: 400 }
      return sendJson(res, 400, { type: 'error', error })
    }
    if (!call.streamed) return sendJson(res, 200, answer.whole)
    const type = call.provider === 'ollama' ? 'application/x-ndjson' : 'text/event-stream'
    res.writeHead(200, { 'content-type': type })
    await delay(FIRST_PIECE_MS)
    for (const piece of answer.stream) res.write(piece)
    res.end()
  }

  const server = createServer((req, res) => void handle(req, res).catch(() => res.destroy()))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = calls
      calls = []
      return taken
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
