import { NIL_UUID, parseUuid } from '../../base/ids.ts'
import { isObject, type JsonValue } from '../../schema/json.ts'
import type { Fault } from './decoded.ts'
import { jsonFault, unprocessable } from './faults.ts'
import type { FeedbackRow } from '../rows/feedback.ts'
import { parseJson } from '../json/json-text.ts'

/**
 * Reads a feedback record from its JSON text. `sentId` is the id in the name of its part; without it the record's own
 * `id` is used. `key` is required; score, value and all other fields are kept unchanged
 * (schemas/feedback-create.schema.json).
 */
export function readFeedback(
  text: string,
  sentId: string | undefined,
  receiver: { workspace_id: string; received_at: number },
): FeedbackRow | Fault {
  const parsed = parseJson(text)
  if (parsed === undefined) return jsonFault('The feedback')
  const record = parsed.value
  if (!isObject(record)) return unprocessable('invalid_field', null, 'Feedback must be a JSON object.')
  const id = parseUuid(sentId ?? record['id'])
  if (id === undefined) return unprocessable('invalid_field', 'id', 'The feedback id is not a UUID.')
  const runId = idOrNil(record['run_id'])
  if (runId === undefined) return unprocessable('invalid_run_id', 'run_id', 'run_id is not a UUID.')
  const traceId = idOrNil(record['trace_id'])
  if (traceId === undefined) return unprocessable('invalid_trace_id', 'trace_id', 'trace_id is not a UUID.')
  const key = record['key']
  if (typeof key !== 'string' || key === '') {
    return unprocessable('missing_field', 'key', 'key must be a non-empty string.')
  }
  return {
    workspace_id: receiver.workspace_id,
    run_id: runId,
    feedback_id: id,
    trace_id: traceId,
    received_at: receiver.received_at,
    body: parsed.text,
  }
}

function idOrNil(value: JsonValue | undefined): string | undefined {
  return value === undefined || value === null || value === '' ? NIL_UUID : parseUuid(value)
}
