import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { toAppError } from '../base/errors.ts'
import { NIL_UUID } from '../base/ids.ts'
import type { Logger } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { DecodeLimits } from '../trace/decoded.ts'
import type { Ingester } from './ingester.ts'

export interface OwnTracesDeps {
  ingester: Ingester
  limits: DecodeLimits
  clock: Clock
  logger: Logger
  metrics: Metrics
}

/** In whose name a trace is stored and counted. */
export interface TraceOrigin {
  workspace_id: string
  user_id: string | null
  api_key_id: string
}

/** Takes the traces of runs that Weir executes itself (D-45). */
export interface OwnTraces {
  /** Stores a JSON batch body; tried again while the ingester is overloaded. Never throws. */
  record(origin: TraceOrigin, body: Uint8Array): void
  /** Resolves when all that was recorded is stored or given up. */
  flushed(): Promise<void>
}

const PAUSES_MS = [50, 250, 1_000, 4_000]
/** More than this waiting for the ingester is dropped: runs go on without their traces. */
const MAX_WAITING_BYTES = 64 << 20

export function createOwnTraces({ ingester, limits, clock, logger, metrics }: OwnTracesDeps): OwnTraces {
  const dropped = metrics.counter(
    'weir_own_trace_batches_dropped_total',
    'Batches of own traces that were not stored, by reason.',
  )
  const waiting = new Set<Promise<void>>()
  let bytes = 0

  async function ingest({ workspace_id, user_id, api_key_id }: TraceOrigin, body: Uint8Array): Promise<void> {
    const head = {
      kind: 'batch' as const,
      content_type: 'application/json',
      content_encoding: '',
      workspace_id,
      user_id: user_id ?? NIL_UUID,
      api_key_id,
      received_at: clock.now(),
      limits,
    }
    for (const pause of [...PAUSES_MS, undefined]) {
      try {
        // The ingester may give the bytes away: a part of a buffer is copied.
        await ingester.ingest(head, body)
        return
      } catch (error) {
        const { code, retryable } = toAppError(error)
        if (!retryable || pause === undefined || body.byteLength === 0) throw error
        if (code === 'usage_limit_reached') throw error
        await delay(pause)
      }
    }
  }

  function giveUp(error: unknown): void {
    const { code } = toAppError(error)
    dropped.inc({ code })
    logger.warn({ code, err: error }, 'the trace of a run was not stored')
  }

  return {
    record(origin, body) {
      if (bytes + body.byteLength > MAX_WAITING_BYTES) return dropped.inc({ code: 'too_much' })
      const size = body.byteLength
      bytes += size
      const storing = ingest(origin, body)
        .catch(giveUp)
        .finally(() => {
          bytes -= size
          waiting.delete(storing)
        })
      waiting.add(storing)
    },
    async flushed() {
      await Promise.all(waiting)
    },
  }
}
