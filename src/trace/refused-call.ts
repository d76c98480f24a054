/** Names of errors that SDKs raise for an answer which is no success. */
const NAMES =
  /(?:RateLimit|Authentication|PermissionDenied|BadRequest|NotFound|Conflict|UnprocessableEntity|InternalServer|ServiceUnavailable|APIStatus|APICall|Overloaded|InvalidRequest|ResourceExhausted|Throttling)(?:Error|Exception)\b|\bValidationException\b/
/** An HTTP status beside a word that says it is one: `Error code: 429`, `status_code=500`, `HTTP 503`. */
const STATUS = /(?:status|error code|code|http(?:\/\d(?:\.\d)?)?)\W{0,4}[45]\d\d\b/i
const REASON =
  /\b[45]\d\d (?:bad request|unauthorized|payment required|forbidden|not found|too many requests|internal server error|bad gateway|service unavailable|gateway timeout|resource_exhausted|invalid_argument)/i
const WORDS =
  /\b(?:rate limit reached|rate_limit_error|invalid_request_error|authentication_error|overloaded_error|insufficient_quota|invalid_api_key)\b/i
const BARE_STATUS = /^[45]\d\d$/
const MOST_TEXT = 4000

/** True where what is known of an error (its text, its type, an HTTP status) says that the vendor refused the call. */
export function isRefusal(...said: (string | undefined)[]): boolean {
  return said.some((whole) => {
    if (whole === undefined) return false
    const text = whole.slice(0, MOST_TEXT)
    return (
      BARE_STATUS.test(text.trim()) || [NAMES, STATUS, REASON, WORDS].some((pattern) => pattern.test(text))
    )
  })
}
