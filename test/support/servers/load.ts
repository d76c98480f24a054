import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { BOUNDARY, multipartBody, type WirePart } from '../traces/wire-body.ts'
import { KEY } from './weir-process.ts'

/** One trace that was sent: a chain with an llm and a tool below it. */
export interface SentTrace {
  /** Number of the trace; every payload is made from it. Later traces have higher numbers. */
  readonly number: number
  readonly started: number
  readonly root: string
  readonly llm: string
  readonly tool: string
  /** True if the creates had a 2xx response. */
  posted: boolean
  /** True if the updates had a 2xx response. */
  patched: boolean
}

/** One response of the server; status 0 means a broken connection. */
export interface Sent {
  readonly status: number
  readonly retry_after: string | undefined
  readonly text: string
  readonly ms: number
}

/** A load that runs until it is stopped. */
export interface Load {
  /** Every trace with at least one sent request. */
  readonly traces: readonly SentTrace[]
  /** Responses other than 2xx, including broken connections. */
  readonly refusals: readonly Sent[]
  /** Milliseconds until each 2xx response. */
  readonly latencies: readonly number[]
  /** Resolves when `traces` traces have been completely acknowledged. */
  reached(traces: number): Promise<void>
  /** Stops sending; resolves when the running requests have ended. */
  stop(): Promise<void>
}

export interface LoadOptions {
  url: string
  session_name: string
  concurrency?: number
  /** Number of the first trace. */
  first?: number
  /** Text in every input, to make inputs larger. */
  padding?: string
  /** Pause of each sender between two traces; the tests run beside others. */
  pauseMs?: number
}

/** Tokens of the llm TraceRun of a trace: [input, output]. */
export function tokensOf(number: number): [number, number] {
  return [100 + (number % 997), 10 + (number % 89)]
}

/** A trace that has not been sent yet. */
export function newTrace(number: number): SentTrace {
  const [root, llm, tool] = [randomUUID(), randomUUID(), randomUUID()]
  return { number, started: Date.now(), root, llm, tool, posted: false, patched: false }
}

function stamp(ms: number): string {
  return `${new Date(ms).toISOString().replace(/[-:.]/g, '').slice(0, -1)}000Z`
}

function headOf(trace: SentTrace, id: string) {
  const root = `${stamp(trace.started)}${trace.root}`
  if (id === trace.root) return { id, trace_id: trace.root, dotted_order: root }
  const order = `${root}.${stamp(trace.started + 1)}${id}`
  return { id, trace_id: trace.root, parent_run_id: trace.root, dotted_order: order }
}

/** The parts that create the three TraceRuns of a trace. */
export function postParts(trace: SentTrace, session_name: string, padding = ''): WirePart[] {
  const start = (id: string, run_type: string) => ({
    ...headOf(trace, id),
    session_name,
    run_type,
    name: `${run_type}-${trace.number}`,
    start_time: new Date(trace.started + (id === trace.root ? 0 : 1)).toISOString(),
  })
  const metadata = { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' }
  const messages = [{ role: 'user', content: `question ${trace.number} ${padding}` }]
  return [
    jsonPart(`post.${trace.root}`, start(trace.root, 'chain')),
    jsonPart(`post.${trace.root}.inputs`, { question: trace.number, padding }),
    jsonPart(`post.${trace.llm}`, { ...start(trace.llm, 'llm'), extra: { metadata } }),
    jsonPart(`post.${trace.llm}.inputs`, { messages }),
    jsonPart(`post.${trace.tool}`, start(trace.tool, 'tool')),
    jsonPart(`post.${trace.tool}.inputs`, { city: trace.number }),
  ]
}

/** The parts that end the three TraceRuns, without repeating anything from the create. */
export function patchParts(trace: SentTrace): WirePart[] {
  const end = (id: string) => ({ ...headOf(trace, id), end_time: new Date(trace.started + 50).toISOString() })
  const [input_tokens, output_tokens] = tokensOf(trace.number)
  const usage_metadata = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }
  const message = { role: 'assistant', content: `answer ${trace.number}` }
  return [
    jsonPart(`patch.${trace.llm}`, end(trace.llm)),
    jsonPart(`patch.${trace.llm}.outputs`, { messages: [message], usage_metadata }),
    jsonPart(`patch.${trace.tool}`, end(trace.tool)),
    jsonPart(`patch.${trace.tool}.outputs`, { weather: trace.number }),
    jsonPart(`patch.${trace.root}`, end(trace.root)),
    jsonPart(`patch.${trace.root}.outputs`, { answer: trace.number }),
  ]
}

export function jsonPart(name: string, value: unknown): WirePart {
  return { name, data: JSON.stringify(value) }
}

/** Sends one multipart request. Never rejects. */
export function sendParts(url: string, parts: readonly WirePart[], agent?: Agent): Promise<Sent> {
  const started = performance.now()
  const answered = (status: number, body: string, retry_after?: string): Sent => ({
    status,
    retry_after,
    text: body,
    ms: performance.now() - started,
  })
  const headers = { 'x-api-key': KEY, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  return new Promise((resolve) => {
    const broken = (error: Error): void => resolve(answered(0, error.message))
    const req = request(`${url}/runs/multipart`, { method: 'POST', headers, ...(agent && { agent }) })
    req.on('error', broken).on('response', (res) => {
      text(res).then(
        (body) => resolve(answered(res.statusCode ?? 0, body, res.headers['retry-after'])),
        broken,
      )
    })
    req.end(multipartBody(parts))
  })
}

const RETRY_MS = 50

/**
 * Sends traces from `concurrency` senders (default 8), create first and update later, as the SDKs do. A refused request
 * is sent again until it is accepted or the load is stopped. A request whose connection broke is not sent again.
 */
export function startLoad(options: LoadOptions): Load {
  const { url, session_name, concurrency = 8, first = 0, padding = '', pauseMs = 10 } = options
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const traces: SentTrace[] = []
  const refusals: Sent[] = []
  const latencies: number[] = []
  let stopped = false
  let whole = 0
  const waiters: { count: number; resolve: () => void }[] = []

  async function accepted(parts: readonly WirePart[]): Promise<boolean> {
    for (;;) {
      const sent = await sendParts(url, parts, agent)
      if (sent.status >= 200 && sent.status < 300) {
        latencies.push(sent.ms)
        return true
      }
      refusals.push(sent)
      await delay(RETRY_MS)
      if (stopped || sent.status === 0) return false
    }
  }

  async function sender(): Promise<void> {
    while (!stopped) {
      const trace = newTrace(first + traces.length)
      traces.push(trace)
      trace.posted = await accepted(postParts(trace, session_name, padding))
      if (!trace.posted) continue
      trace.patched = await accepted(patchParts(trace))
      if (trace.patched) whole += 1
      for (const waiter of waiters) if (whole >= waiter.count) waiter.resolve()
      await delay(pauseMs)
    }
  }

  const senders = Promise.all(Array.from({ length: concurrency }, sender))
  return {
    traces,
    refusals,
    latencies,
    reached: (count) =>
      whole >= count ? Promise.resolve() : new Promise((resolve) => waiters.push({ count, resolve })),
    async stop() {
      stopped = true
      await senders
      agent.destroy()
    },
  }
}

/** The median; NaN for an empty list. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
