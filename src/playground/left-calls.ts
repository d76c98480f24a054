import type { Clock } from '../base/clock.ts'
import { PLAYGROUND_PROJECT, type TraceCaller, type TraceRecorder } from './call-trace.ts'

/** A call whose trace has not ended. */
export interface PendingCall {
  caller: TraceCaller
  run_id: string
  dotted_order: string
  /** Latest end of the call, ISO 8601, from the metadata of its trace (`call_ends_by`). */
  ends_by: string
}

/** Ends the traces of calls that were running when their server ended. */
export interface LeftCalls {
  /** Resolves with the number of ended calls. @throws AppError when the stores do not answer */
  end(): Promise<number>
}

export interface LeftCallsParts {
  /** Some of the calls of all workspaces that began before `before`, epoch milliseconds, and have not ended. */
  pending(before: number): Promise<readonly PendingCall[]>
  traces: TraceRecorder
  clock: Clock
}

/** Time for storing the end of a call. */
const MARGIN_MS = 60_000

/**
 * Ends calls of all servers after the time in their traces (`call_ends_by`). The stored end has that time too, so that
 * several servers write the same end.
 */
export function createLeftCalls({ pending, traces, clock }: LeftCallsParts): LeftCalls {
  return {
    async end() {
      const before = clock.now() - MARGIN_MS
      const left = (await pending(before)).filter(({ ends_by }) => Date.parse(ends_by) < before)
      for (const { caller, run_id, dotted_order, ends_by } of left) {
        const place = { id: run_id, trace_id: run_id, session_name: PLAYGROUND_PROJECT }
        const end = {
          ...place,
          ...(dotted_order !== '' && { dotted_order }),
          end_time: ends_by,
          error: 'The server ended during the call.',
        }
        traces.record(caller, Buffer.from(JSON.stringify({ post: [], patch: [end] })))
      }
      return left.length
    },
  }
}
