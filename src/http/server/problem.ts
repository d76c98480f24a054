import { type AppError, type ErrorCode, toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { isObject } from '../../schema/json.ts'
import { isRequestFaults, type RequestFault } from '../api/faults.ts'
import type { Headers } from '../api/route.ts'
import { type Exchange, sendBytes } from './exchange.ts'

/** Body of every error response (D-6). */
export interface Problem {
  detail: string | RequestFault[]
  code: ErrorCode
  /** The error in LangSmith's wording, because SDKs and users search for these texts. */
  error: string
  request_id?: string
}

/** LangSmith's wording of errors whose message in Weir is different. */
const LANGSMITH_WORDING: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Invalid token',
  forbidden: 'Forbidden',
  permission_required: 'Forbidden',
  workspace_required: 'org_scoped_key_requires_workspace',
}

/** Codes with status 500 or above that are not a fault of this server. */
const EXPECTED: ReadonlySet<ErrorCode> = new Set([
  'store_full',
  'not_implemented',
  'container_runtime_unavailable',
])

/** Seconds; the Python client waits exactly this long, the JavaScript client ignores it. */
const RETRY_AFTER = 1

/** The response body for `error`; internal details stay in the log. */
export function toProblem(error: AppError, request_id: string): Problem {
  const detail = isRequestFaults(error.details) ? error.details : error.message
  const wording = LANGSMITH_WORDING[error.code] ?? error.message
  return { detail, code: error.code, error: wording, ...(error.status >= 500 && { request_id }) }
}

/** Statuses after which a retry is useless, although the LangSmith SDKs retry by default. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([409, 501])

/**
 * Headers of an error: Retry-After, only if the same request may succeed later. With a 413 the Python client would send
 * the request again. WWW-Authenticate with 401, as RFC 9110 requires.
 */
export function problemHeaders(error: AppError): Headers {
  if (error.retryable) return { 'retry-after': retryAfter(error.details), ...rateLimitHeaders(error.details) }
  if (error.status === 401) return { 'www-authenticate': challengeOf(error.details) }
  return FINAL_STATUSES.has(error.status) ? { 'x-should-retry': 'false' } : {}
}

/** What a 401 asks for: a key, unless the route names more. */
function challengeOf(details: unknown): string {
  return isObject(details) && typeof details['challenge'] === 'string' ? details['challenge'] : 'Bearer'
}

function retryAfter(details: unknown): number {
  return isObject(details) && typeof details['retry_after'] === 'number'
    ? details['retry_after']
    : RETRY_AFTER
}

/** Headers about the limit that refused the request, if the error has its state. */
function rateLimitHeaders(details: unknown): Headers {
  if (!isObject(details) || !isObject(details['rate_limit'])) return {}
  const { limit, remaining, reset } = details['rate_limit']
  return {
    'x-ratelimit-limit': Number(limit),
    'x-ratelimit-remaining': Number(remaining),
    'x-ratelimit-reset': Number(reset),
  }
}

/** The same problem with a text in `detail`, for clients that print only this field (P-9). */
export const textProblem: ProblemWriter = (error, request_id) => {
  const { detail, ...problem } = toProblem(error, request_id)
  const text =
    typeof detail === 'string'
      ? detail
      : detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ')
  return { content_type: 'application/json', body: JSON.stringify({ detail: text, ...problem }) }
}

export type ProblemWriter = (
  error: AppError,
  request_id: string,
) => { content_type: string; body: Uint8Array | string }

const problemJson: ProblemWriter = (error, request_id) => ({
  content_type: 'application/json',
  body: JSON.stringify(toProblem(error, request_id)),
})

/** Whether work was aborted because its client has disconnected, so that no response is needed. */
function isClientGone({ res }: Exchange, thrown: unknown): boolean {
  return res.destroyed && thrown instanceof Error && thrown.name === 'AbortError'
}

/**
 * Converts a thrown value to a response, unless the client has disconnected; no other code does. An unexpected error is
 * a 500 whose cause is logged with the request id. Refusals because of overload are counted by metrics instead of
 * logged.
 */
export function sendProblem(
  exchange: Exchange,
  thrown: unknown,
  logger: Logger,
  headers: Headers = {},
  write: ProblemWriter = problemJson,
): void {
  if (isClientGone(exchange, thrown)) return
  const error = toAppError(thrown)
  const { request_id, route, req } = exchange
  if (error.status >= 500 && !error.retryable && !EXPECTED.has(error.code)) {
    // The cause of a 502 is the deployment's app, not this server.
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
