import type { AppError } from '../../../base/errors.ts'
import type { Rejected } from '../../decode/decoded.ts'
import type { OtlpFormat } from './record.ts'

export interface OtlpAnswer {
  content_type: string
  body: Uint8Array | string
}

const FORMATS: ReadonlyMap<string, OtlpFormat> = new Map([
  ['application/x-protobuf', 'protobuf'],
  ['application/protobuf', 'protobuf'],
  ['application/json', 'json'],
])
const TYPES: Record<OtlpFormat, string> = { protobuf: 'application/x-protobuf', json: 'application/json' }

/** The format of a body with this Content-Type; undefined for types that OTLP/HTTP does not define. */
export function otlpFormat(contentType: string): OtlpFormat | undefined {
  return FORMATS.get(contentType.split(';', 1)[0]!.trim().toLowerCase())
}

/** Maximum number of reasons in one answer. */
const MAX_REASONS = 3

/**
 * The answer to an export whose body could be read: an empty response, or one with partial_success if records were
 * refused (https://opentelemetry.io/docs/specs/otlp/#partial-success-1).
 */
export function exportAnswer(
  format: OtlpFormat,
  kind: 'otlp-traces' | 'otlp-logs' | 'otlp-metrics',
  rejected: readonly Rejected[],
): OtlpAnswer {
  const content_type = TYPES[format]
  if (rejected.length === 0) return { content_type, body: format === 'json' ? '{}' : new Uint8Array(0) }
  const message = partialMessage(rejected)
  if (format === 'json') {
    const count = kind === 'otlp-traces' ? 'rejectedSpans' : 'rejectedLogRecords'
    const partialSuccess = { [count]: String(rejected.length), errorMessage: message }
    return { content_type, body: JSON.stringify({ partialSuccess }) }
  }
  const partial = Buffer.concat([Buffer.of(8), varint(rejected.length), field(2, Buffer.from(message))])
  return { content_type, body: field(1, partial) }
}

function partialMessage(rejected: readonly Rejected[]): string {
  const counts = new Map<string, number>()
  for (const { reason } of rejected) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const named = [...counts].slice(0, MAX_REASONS).map(([reason, count]) => `${count} × ${reason}`)
  return `${rejected.length} not stored: ${named.join(' ')}${counts.size > MAX_REASONS ? ' …' : ''}`
}

/** Codes of google.rpc.Code by HTTP status. */
const RPC_CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  408: 4,
  413: 8,
  415: 3,
  422: 3,
  429: 8,
  503: 14,
}
const RPC_INTERNAL = 13

/** The google.rpc.Code of an error. */
export function rpcCode({ status }: AppError): number {
  return RPC_CODES[status] ?? RPC_INTERNAL
}

/** The answer to an export that failed as a whole: a google.rpc.Status. */
export function statusAnswer(format: OtlpFormat, error: AppError): OtlpAnswer {
  const code = rpcCode(error)
  const content_type = TYPES[format]
  if (format === 'json') return { content_type, body: JSON.stringify({ code, message: error.message }) }
  return { content_type, body: rpcStatus(code, error.message, undefined) }
}

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'

/** A google.rpc.Status in protobuf, with RetryInfo if the error has a number of seconds after which to retry. */
export function rpcStatus(code: number, message: string, retry_after: number | undefined): Buffer {
  const status = [Buffer.of(8), varint(code), field(2, Buffer.from(message))]
  if (retry_after !== undefined) {
    const delay = Buffer.concat([Buffer.of(8), varint(retry_after)])
    const info = Buffer.concat([field(1, Buffer.from(RETRY_INFO)), field(2, field(1, delay))])
    status.push(field(3, info))
  }
  return Buffer.concat(status)
}

/** A length-delimited field of a protobuf message. */
function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.of((number << 3) | 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}
