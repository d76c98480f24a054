import { type AppError, type ErrorCode, toAppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { isObject } from '../schema/json.ts'
import type { Exchange, Headers } from './exchange.ts'
import { sendBytes } from './exchange.ts'

/** One fault of a request in FastAPI's shape, which LangSmith's clients know. */
export interface RequestFault {
  /** Where: `body`, `query`, `path` or `header`, then keys and indexes. */
  loc: (string | number)[]
  msg: string
  type: string
}

/** Body of every error answer (D-6). */
export interface Problem {
  detail: string | RequestFault[]
  code: ErrorCode
  /** The same in LangSmith's wording: SDKs and users look for these texts. */
  error: string
  request_id?: string
}

/** LangSmith's own words where they differ from ours (contract §1.5). */
const LANGSMITH_WORDING: Partial<Record<ErrorCode, string>> = {
  forbidden: 'Forbidden',
  workspace_required: 'org_scoped_key_requires_workspace',
}

/** Seconds; Python's client waits exactly this long, JavaScript's ignores it (contract §1.6). */
const RETRY_AFTER = 1

/** True for what `details` of a 422 hold. */
export function isRequestFaults(details: unknown): details is RequestFault[] {
  return (
    Array.isArray(details) && details.length > 0 && details.every((fault) => Array.isArray(Object(fault).loc))
  )
}

/** The body that tells the caller about `error`; what went wrong inside stays in the log. */
export function toProblem(error: AppError, request_id: string): Problem {
  const detail = isRequestFaults(error.details) ? error.details : error.message
  const wording = LANGSMITH_WORDING[error.code] ?? error.message
  return { detail, code: error.code, error: wording, ...(error.status >= 500 && { request_id }) }
}

/** Retry-After where the same request may succeed later, and never else: with 413 it makes Python send again. */
export function problemHeaders(error: AppError): Headers {
  return error.retryable ? { 'retry-after': retryAfter(error.details) } : {}
}

function retryAfter(details: unknown): number {
  return isObject(details) && typeof details['retry_after'] === 'number'
    ? details['retry_after']
    : RETRY_AFTER
}

/** What an error is answered with. */
export type ProblemWriter = (
  error: AppError,
  request_id: string,
) => { content_type: string; body: Uint8Array | string }

const problemJson: ProblemWriter = (error, request_id) => ({
  content_type: 'application/json',
  body: JSON.stringify(toProblem(error, request_id)),
})

/**
 * The only place that turns a thrown value into an answer. An unexpected one is a 500 whose cause is logged
 * with the request id; overload is counted by metrics and not logged one by one.
 */
export function sendProblem(
  exchange: Exchange,
  thrown: unknown,
  logger: Logger,
  headers: Headers = {},
  write: ProblemWriter = problemJson,
): void {
  const error = toAppError(thrown)
  const { request_id, route, req } = exchange
  if (error.status >= 500 && !error.retryable) {
    // A bad gateway is the fault of what is behind it.
    const level = error.status === 502 ? 'warn' : 'error'
    logger[level](
      { request_id, method: req.method, route, code: error.code, err: error.cause ?? error },
      'request failed',
    )
  }
  const { content_type, body } = write(error, request_id)
  sendBytes(
    exchange,
    error.status,
    { 'content-type': content_type, ...problemHeaders(error), ...headers },
    body,
  )
}
