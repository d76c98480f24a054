import { type JsonValue, isObject } from '../../schema/json.ts'
import type { Message } from '../../schema/types.gen.ts'
import { unwrappedValue, type ChosenFormat } from './choose.ts'

/** Names of errors that SDKs raise for unsuccessful responses. */
const NAMES =
  /(?:RateLimit|Authentication|PermissionDenied|BadRequest|NotFound|Conflict|UnprocessableEntity|InternalServer|ServiceUnavailable|APIStatus|APICall|Overloaded|InvalidRequest|ResourceExhausted|Throttling)(?:Error|Exception)\b|\bValidationException\b/
/** An HTTP status after a word that marks it: `Error code: 429`, `status_code=500`, `HTTP 503`. */
const STATUS = /(?:status|error code|code|http(?:\/\d(?:\.\d)?)?)\W{0,4}[45]\d\d\b/i
const REASON =
  /\b[45]\d\d (?:bad request|unauthorized|payment required|forbidden|not found|too many requests|internal server error|bad gateway|service unavailable|gateway timeout|resource_exhausted|invalid_argument)/i
const WORDS =
  /\b(?:rate limit reached|rate_limit_error|invalid_request_error|authentication_error|overloaded_error|insufficient_quota|invalid_api_key)\b/i
/** Errors of the JavaScript SDKs of OpenAI and Anthropic: `Error: 400 this model is unknown`. */
const LEADING_STATUS = /^\w*Error: [45]\d\d\b/
const BARE_STATUS = /^[45]\d\d$/
const MOST_TEXT = 4000
const USAGE: ReadonlySet<string> = new Set(['usage', 'usage_metadata'])

/** Whether the text, type or HTTP status of an error shows that the vendor refused the call. */
export function isRefusal(...texts: (string | undefined)[]): boolean {
  return texts.some((whole) => {
    if (whole === undefined) return false
    const text = whole.slice(0, MOST_TEXT)
    return (
      BARE_STATUS.test(text.trim()) ||
      [NAMES, STATUS, REASON, WORDS, LEADING_STATUS].some((pattern) => pattern.test(text))
    )
  })
}

/**
 * Whether outputs contain no answer. For a failed call, SDKs write null or an empty value (wrapped or not), usage alone,
 * or messages of a known format without text, reasoning, media and tool calls.
 */
export function isEmptyAnswer(
  outputs: JsonValue | undefined,
  chosen: ChosenFormat | undefined,
  messages: readonly Message[],
): boolean {
  if (outputs === undefined) return true
  if (chosen !== undefined) return messages.every(isEmptyMessage)
  const unwrapped = unwrappedValue('outputs', outputs)
  if (unwrapped === null || unwrapped === '') return true
  if (!Array.isArray(unwrapped) && !isObject(unwrapped)) return false
  return Object.keys(unwrapped).every((name) => USAGE.has(name))
}

function isEmptyMessage({ content }: Message): boolean {
  return content.every((block) => (block.type === 'text' || block.type === 'reasoning') && block.text === '')
}
