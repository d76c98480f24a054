import { type ErrorCode, ERRORS } from '../../base/errors.ts'
import type { Fault } from './decoded.ts'

/** `post` creates a TraceRun, `patch` updates it. */
export type Op = 'post' | 'patch'

/** Maximum length of a client's text that a response repeats. */
const MAX_ECHO = 500

/** `text`, or its beginning with "…" if it is too long to repeat. */
export function clip(text: string, limit = MAX_ECHO): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`
}

/** The fault of an id field that is not a uuid, in LangSmith's words. `sentId` is the TraceRun's id as sent. */
export function idFault(op: Op, sentId: string, field: string): Fault {
  const codes: Record<string, ErrorCode> = {
    id: 'invalid_run_id',
    trace_id: 'invalid_trace_id',
    parent_run_id: 'invalid_parent_run_id',
  }
  return unprocessable(
    codes[field] ?? 'invalid_field',
    field,
    `${field} is not a UUID.`,
    `Unprocessable entity: error parsing run for ${op}.${clip(sentId)}: schema validation failed: ` +
      `${field}: Must validate one and only one schema (oneOf)`,
  )
}

/** The fault of a start_time or end_time that is not a time. */
export function timeFault(field: string): Fault {
  const text = `${field} must be an ISO 8601 timestamp`
  return unprocessable(
    'invalid_timestamp',
    field,
    `${text} or epoch milliseconds, between 1900 and 2255.`,
    text,
  )
}

/** The fault of a dotted_order that contradicts the record, in LangSmith's words. */
export function dottedOrderFault(
  reason: string,
  sent: { run_id: string; trace_id: string; dotted_order: string; parent_run_id: string },
): Fault {
  const where = Object.entries(sent).map(([name, value]) => `${name}:${clip(value)}`)
  return {
    code: 'invalid_dotted_order',
    field: 'dotted_order',
    reason: `${reason}.`,
    error: `Bad request: invalid 'dotted_order': ${reason} for ${where.join(' ')}`,
    status: 400,
  }
}

/** A fault with status 422; `error` is LangSmith's text if one is known. */
export function unprocessable(code: ErrorCode, field: string | null, reason: string, error?: string): Fault {
  return { code, field, reason, error: error ?? `Unprocessable entity: ${reason}`, status: 422 }
}

export function jsonFault(what: string): Fault {
  const reason = `${what} is not valid JSON.`
  return { code: 'invalid_json', field: null, reason, error: `Bad request: ${reason}`, status: 400 }
}

/** The fault of a TraceRun that arrived truncated. `field` is the part whose end is missing. */
export function incompleteFault(field: string | null): Fault {
  return unprocessable('incomplete_run', field, ERRORS.incomplete_run.message)
}

/** The fault of a part or field above the limit. */
export function tooLargeFault(field: string | null, size: number, limit: number): Fault {
  const reason = `${field ?? 'The run'} has ${size} bytes, the limit is ${limit}.`
  return { code: 'run_too_large', field, reason, error: `Payload too large: ${reason}`, status: 413 }
}
