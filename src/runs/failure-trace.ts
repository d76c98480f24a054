import { toJsonText } from '../schema/raw-json.ts'
import type { Run } from './model.ts'

/** What is known of an attempt that failed before its host recorded anything. */
export interface UntracedFailure {
  /** Name of the project. */
  project: string
  /** Milliseconds since 1970. */
  began: number
  ended: number
  error: string
  message: string
}

/**
 * The trace of an attempt whose graph did not begin, because it could not be loaded or its input is not valid, as a batch
 * body: a root with the input and the error. Undefined if the run is not traced.
 */
export function failureTrace(run: Run, failure: UntracedFailure): Uint8Array | undefined {
  const { trace_id } = run
  if (trace_id === null) return undefined
  const { project, began, ended, error, message } = failure
  const { run_id, thread_id, graph_id, assistant_id, metadata, kwargs } = run
  // A large input is not parsed here.
  const input = kwargs.command ?? kwargs.input
  const isFields = toJsonText(input).startsWith('{')
  const root = {
    id: trace_id,
    name: graph_id,
    run_type: 'chain',
    session_name: project,
    start_time: new Date(began).toISOString(),
    end_time: new Date(ended).toISOString(),
    inputs: isFields ? input : { input },
    error: `${error}: ${message}`,
    extra: { metadata: { ...metadata, run_id, thread_id, graph_id, assistant_id } },
  }
  return Buffer.from(toJsonText({ post: [root], patch: [] }))
}
