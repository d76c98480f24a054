import { toJsonText } from '../schema/raw-json.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Run } from './model.ts'

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/**
 * A run as the deployment API shows it; `weir` has the fields that the platform lacks. `totals` are
 * tokens and cost of its trace, if they were requested (D-45).
 */
export function runJson(run: Run, totals?: JsonObject | null): JsonObject {
  const { run_id, thread_id, assistant_id, status, metadata, multitask_strategy } = run
  const { trace_id, revision_id, attempt, error, partial_messages, interrupted } = run
  return {
    run_id,
    thread_id,
    assistant_id,
    created_at: isoTime(run.created_at),
    updated_at: isoTime(run.updated_at),
    status,
    metadata,
    kwargs: { ...run.kwargs },
    multitask_strategy,
    weir: {
      // A run in a caller's trace has no trace of its own.
      trace_id: trace_id === null ? null : (run.kwargs.caller_trace?.trace_id ?? trace_id),
      revision_id,
      attempt,
      error: error && { ...error },
      partial_messages,
      interrupted,
      ...(totals !== undefined && { totals }),
    },
  }
}

/** The body of a webhook about a run that has ended, as JSON text. */
export function webhookBody(run: Run, values_json: string | null, sent_at: number): string {
  const { error, started_at, ended_at } = run
  const head = toJsonText({
    ...runJson(run),
    run_started_at: started_at === null ? null : isoTime(started_at),
    run_ended_at: isoTime(ended_at ?? sent_at),
    webhook_sent_at: isoTime(sent_at),
    ...(error !== null && { error }),
  })
  return `${head.slice(0, -1)},"values":${values_json ?? 'null'}}`
}
