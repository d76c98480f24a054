import type { Clock } from '../base/clock.ts'
import { toJsonText } from '../schema/raw-json.ts'
import type { GraphEnd } from './execute/graph-host.ts'
import type { Run } from './model.ts'
import type { Claim } from './run-store.ts'

interface TraceDeps {
  claim: Claim
  project: string
  rules: { max_attempts: number }
  clock: Clock
  record(claim: Claim, body: Uint8Array): void
}

/**
 * Records what the host of an attempt traces. An attempt that fails without a trace gets a root with its input and the
 * error: its graph could not be loaded, or its input is not valid. If another attempt follows, there is no such root,
 * because its error would stay in the trace of a run that succeeds.
 */
export function traceAttempt({ claim, project, rules, clock, record }: TraceDeps) {
  const began = clock.now()
  let isTraced = false
  return {
    trace(body: Uint8Array): void {
      isTraced = true
      record(claim, body)
    },
    ended(end: GraphEnd): void {
      if (isTraced || end.kind !== 'failed' || claim.run.trace_id === null) return
      if (end.retryable && claim.run.attempt < rules.max_attempts) return
      const root = {
        ...rootOf(claim.run),
        session_name: project,
        start_time: new Date(began).toISOString(),
        end_time: new Date(clock.now()).toISOString(),
        error: `${end.error}: ${end.message}`,
      }
      record(claim, Buffer.from(toJsonText({ post: [root], patch: [] })))
    },
  }
}

function rootOf({ run_id, thread_id, graph_id, assistant_id, trace_id, metadata, kwargs }: Run): object {
  // A large input is not parsed here.
  const input = kwargs.command ?? kwargs.input
  const isFields = toJsonText(input).startsWith('{')
  return {
    id: trace_id,
    name: graph_id,
    run_type: 'chain',
    inputs: isFields ? input : { input },
    extra: { metadata: { ...metadata, run_id, thread_id, graph_id, assistant_id } },
  }
}
