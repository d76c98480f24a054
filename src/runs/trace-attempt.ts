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
 * error: its graph could not be loaded, its input is not valid, or it ended its host at once. If another attempt follows,
 * there is no such root, because its error would stay in the trace of a run that succeeds. A run that ends its host
 * later cannot end its root itself.
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
      const { trace_id: id, attempt } = claim.run
      if (id === null || (end.kind !== 'failed' && end.kind !== 'lost')) return
      const isLast = end.kind === 'lost' ? end.culprit : !end.retryable || attempt >= rules.max_attempts
      if (!isLast || (isTraced && end.kind === 'failed')) return
      const end_time = new Date(clock.now()).toISOString()
      const ending = { ...placed(claim.run, project), end_time, error: `${end.error}: ${end.message}` }
      const begun = { ...rootOf(claim.run), start_time: new Date(began).toISOString() }
      const body = isTraced
        ? { post: [], patch: [{ id, ...ending }] }
        : { post: [{ ...begun, ...ending }], patch: [] }
      record(claim, Buffer.from(toJsonText(body)))
    },
  }
}

/** The project of the root, and its place in the trace of a caller. */
function placed({ kwargs: { caller_trace } }: Run, project: string): object {
  if (caller_trace === undefined) return { session_name: project }
  const { trace_id, parent_run_id, project: session_name = project } = caller_trace
  return { session_name, trace_id, parent_run_id }
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
