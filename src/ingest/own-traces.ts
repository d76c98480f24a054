import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { type ErrorCode, toAppError } from '../base/errors.ts'
import { NIL_UUID } from '../base/ids.ts'
import type { Logger } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { DecodeLimits, RequestHead } from '../trace/decode/decoded.ts'
import type { Ingester } from './ingester.ts'
import { createTraceGroups, joinBodies, type TracedRun, type TraceOrigin } from './trace-groups.ts'

export interface OwnTracesDeps {
  ingester: Ingester
  limits: DecodeLimits
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Milliseconds before each further attempt; the last pause is repeated while there is no room. */
  pausesMs?: readonly number[]
}

/** Stores the traces of runs that Weir executes itself (D-45). */
export interface OwnTraces {
  /**
   * Stores a JSON batch body; retries while the ingester is overloaded, and for as long as the disk or the log is full.
   * Bodies of runs of a deployment that arrive while an earlier one of it is being stored are stored together. Never
   * throws.
   */
  record(origin: TraceOrigin, body: Uint8Array, of?: TracedRun): void
  /**
   * Called when the server stops: no longer waits for room on the disk. Resolves when all recorded traces are stored or
   * given up.
   */
  flushed(): Promise<void>
}

const PAUSES_MS = [50, 250, 1_000, 4_000]
/** Errors after which a trace is kept until there is room again. */
const WAITED_FOR: ReadonlySet<ErrorCode> = new Set([
  'disk_full',
  'disk_unwritable',
  'log_full',
  'log_unavailable',
])
/** Maximum bytes of waiting traces; further traces are dropped, and their runs continue without traces. */
const MAX_WAITING_BYTES = 64 << 20

export function createOwnTraces(deps: OwnTracesDeps): OwnTraces {
  const { ingester, limits, clock, logger, metrics, pausesMs = PAUSES_MS } = deps
  const dropped = metrics.counter(
    'weir_own_trace_batches_dropped_total',
    'Batches of own traces that were not stored, by reason.',
  )
  const waiting = new Set<Promise<void>>()
  const ending = new AbortController()
  let bytes = 0

  /** Waits before an attempt. The long pauses after errors about room end at once when the server stops. */
  async function pause(attempt: number): Promise<void> {
    const ms = pausesMs[attempt]
    if (ms !== undefined) return delay(ms)
    const signal = ending.signal
    await delay(pausesMs.at(-1), undefined, { signal, ref: false }).catch(() => undefined)
  }

  async function ingest(origin: TraceOrigin, body: Uint8Array): Promise<void> {
    const head = headOf(origin, clock.now(), limits)
    for (let attempt = 0; ; attempt++) {
      try {
        // The ingester may transfer the buffer, so a part of a buffer is copied.
        await ingester.ingest(head, body)
        return
      } catch (error) {
        const isAgain = mayTryAgain(error, attempt < pausesMs.length, ending.signal.aborted)
        if (body.byteLength === 0 || !isAgain) throw error
        await pause(attempt)
      }
    }
  }

  function giveUp(error: unknown): void {
    const { code } = toAppError(error)
    dropped.inc({ code })
    logger.warn({ code, err: error }, 'the trace of a run was not stored')
  }

  /** Stores bodies in one request. If it is refused, each is sent alone, so that a bad one does not affect the others. */
  async function store(origin: TraceOrigin, bodies: readonly Uint8Array[]): Promise<void> {
    const alone = (): Promise<unknown> =>
      Promise.all(bodies.map((body) => ingest(origin, body).catch(giveUp)))
    const size = bodies.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const joined = bodies.length > 1 ? joinBodies(bodies) : undefined
    try {
      await (joined === undefined ? alone() : ingest(origin, joined))
    } catch (error) {
      if (mayTryAgain(error, true, ending.signal.aborted)) for (const _ of bodies) giveUp(error)
      else await alone()
    } finally {
      bytes -= size
    }
  }

  const groups = createTraceGroups(store)

  return {
    record(origin, body, of) {
      if (bytes + body.byteLength > MAX_WAITING_BYTES) return dropped.inc({ code: 'too_much' })
      bytes += body.byteLength
      const tracked = (of === undefined ? store(origin, [body]) : groups.add(origin, body, of)).finally(() =>
        waiting.delete(tracked),
      )
      waiting.add(tracked)
    },
    async flushed() {
      ending.abort()
      await Promise.all(waiting)
    },
  }
}

function headOf(
  { workspace_id, user_id, api_key_id }: TraceOrigin,
  received_at: number,
  limits: DecodeLimits,
): RequestHead {
  return {
    kind: 'batch',
    content_type: 'application/json',
    content_encoding: '',
    workspace_id,
    user_id: user_id ?? NIL_UUID,
    api_key_id,
    received_at,
    limits,
    is_own: true,
  }
}

/**
 * Whether another attempt is made. After temporary errors, the number of attempts is limited. After errors about room
 * on the disk, attempts continue until the server stops.
 */
function mayTryAgain(error: unknown, isEarly: boolean, isEnding: boolean): boolean {
  const { code, retryable } = toAppError(error)
  if (!retryable || code === 'usage_limit_reached') return false
  return isEarly || (!isEnding && WAITED_FOR.has(code))
}
