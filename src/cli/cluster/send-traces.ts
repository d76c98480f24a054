import { newUuid } from '../../base/ids.ts'
import { pause } from '../../base/pause.ts'
import { formatDottedOrder } from '../../trace/derive/lineage/dotted-order.ts'
import { type ApiClient, Refusal } from '../server/api-client.ts'

/** Traces that are sent to several servers, and what happened. */
export interface Sent {
  /** The roots, and the tool calls below them, in the same order. */
  roots: string[]
  calls: string[]
  /** Number of requests that were sent again, because no server took them. */
  repeated: number
}

export interface Sending {
  project: string
  /** Traces a second, at least 1. */
  rate: number
  seconds: number
  /** Called once a second with the number of traces that were taken. */
  onProgress: (taken: number) => void
}

/** Maximum number of requests that wait for a response. While so many wait, no further trace begins. */
const MAX_OPEN = 64
/** Milliseconds before a request that a server did not take is sent to the next one, and until it is given up. */
const AGAIN_MS = 500
const GIVE_UP_MS = 600_000
const SECOND_MS = 1_000
/** Every fifth trace is sent twice, as a client does whose response was lost. */
const TWICE = 5

/**
 * Sends traces of two TraceRuns: what begins a trace goes to one server, what ends it to the next, and every fifth to a
 * third one again. A request that fails is sent to the next server, until one takes it.
 */
export async function sendTraces(servers: readonly ApiClient[], sending: Sending): Promise<Sent> {
  const sent: Sent = { roots: [], calls: [], repeated: 0 }
  const open = new Set<Promise<void>>()
  const signal = new AbortController().signal
  const begun = performance.now()
  const total = sending.rate * sending.seconds
  for (let n = 0, shown = 0; n < total; n++) {
    await pause(begun + (n * SECOND_MS) / sending.rate - performance.now(), signal)
    while (open.size >= MAX_OPEN) await Promise.race(open)
    const work: Promise<void> = sendTrace(servers, n, sending.project, sent).finally(() => open.delete(work))
    open.add(work)
    if (performance.now() < begun + (shown + 1) * SECOND_MS) continue
    shown = Math.floor((performance.now() - begun) / SECOND_MS)
    sending.onProgress(sent.roots.length)
  }
  await Promise.all(open)
  return sent
}

/** Sends one trace. It is added to `sent` when servers have taken all of it. */
export async function sendTrace(
  servers: readonly ApiClient[],
  n: number,
  project: string,
  sent: Sent,
): Promise<void> {
  const [root, call] = [newUuid(), newUuid()]
  const { post, patch } = traceOf(root, call, project)
  sent.repeated += await sendUntilTaken(servers, n, { post, patch: [] })
  sent.repeated += await sendUntilTaken(servers, n + 1, { post: [], patch })
  if (n % TWICE === 0) sent.repeated += await sendUntilTaken(servers, n + 2, { post, patch })
  sent.roots.push(root)
  sent.calls.push(call)
}

/** Sends a batch to the servers in turn, beginning with server `n`; returns the number of failures. */
async function sendUntilTaken(servers: readonly ApiClient[], n: number, body: object): Promise<number> {
  const begun = performance.now()
  for (let failures = 0; ; failures++) {
    try {
      await servers[(n + failures) % servers.length]!.text('/runs/batch', { method: 'POST', body })
      return failures
    } catch (error) {
      if (isFinal(error) || performance.now() > begun + GIVE_UP_MS) throw error
      await pause(AGAIN_MS, new AbortController().signal)
    }
  }
}

/** Whether another try would be refused too. */
function isFinal(error: unknown): boolean {
  return error instanceof Refusal && error.answered !== 429 && error.answered < 500
}

/** What begins a trace of a chain and a tool call, and what ends it. */
function traceOf(root: string, call: string, session_name: string): { post: object[]; patch: object[] } {
  const now = Date.now()
  const [start_time, end_time] = [new Date(now).toISOString(), new Date(now + 1).toISOString()]
  const rootOrder = [{ time: now * 1000, id: root }]
  const places = [
    { id: root, trace_id: root, dotted_order: formatDottedOrder(rootOrder) },
    {
      id: call,
      trace_id: root,
      parent_run_id: root,
      dotted_order: formatDottedOrder([...rootOrder, { time: now * 1000, id: call }]),
    },
  ]
  const kinds = [
    { name: 'weir cluster verify', run_type: 'chain' },
    { name: 'call', run_type: 'tool' },
  ]
  return {
    post: places.map((place, i) => ({
      ...place,
      ...kinds[i],
      session_name,
      start_time,
      inputs: { of: root },
    })),
    patch: places.map((place) => ({ ...place, session_name, end_time, outputs: { of: root } })),
  }
}
