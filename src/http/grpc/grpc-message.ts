import type { OutgoingHttpHeaders } from 'node:http2'
import { AppError } from '../../base/errors.ts'
import { rpcCode, rpcStatus } from '../../trace/otel/wire/answer.ts'
import { problemHeaders } from '../server/problem.ts'

/** The prefix of each message: a flag for compression, and the length in four bytes (big-endian). */
export const PREFIX_BYTES = 5

const UNIMPLEMENTED = 12
const NAMES_OF_CODES: Readonly<Record<number, string>> = {
  0: 'OK',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  [UNIMPLEMENTED]: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
}

/** The name of a gRPC status code, for metrics. */
export function codeName(code: number): string {
  return NAMES_OF_CODES[code] ?? 'UNKNOWN'
}

/**
 * The Content-Encoding with which a message with this prefix is decoded; `grpc_encoding` is the call's header. @throws
 * AppError invalid_otlp if the prefix does not fit the message, invalid_encoding if the message is compressed and no
 * encoding is named
 */
export function messageEncoding(prefix: Buffer, length: number, grpc_encoding: string | undefined): string {
  const [flag = 2] = prefix
  if (prefix.length < PREFIX_BYTES || flag > 1 || prefix.readUInt32BE(1) !== length)
    throw new AppError('invalid_otlp', { message: 'The call does not contain exactly one gRPC message.' })
  if (flag === 0) return ''
  if (grpc_encoding !== undefined && grpc_encoding !== 'identity') return grpc_encoding
  throw new AppError('invalid_encoding', {
    message: 'The message is compressed, but grpc-encoding names no compression.',
  })
}

/** A message with its prefix, uncompressed. */
export function framed(message: Uint8Array | string): Buffer {
  const bytes = Buffer.from(message)
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

/** Characters that gRPC escapes in grpc-message: `%`, and all except printable ASCII. */
const ESCAPED = /[^ -~]|%/gu

/** The trailers of a failed call; with RetryInfo if the same call may succeed later, as OTLP requires. */
export function statusTrailers(error: AppError): OutgoingHttpHeaders & { 'grpc-status': number } {
  // In gRPC, an unknown compression is UNIMPLEMENTED, like an unknown method.
  const isUnknown = error.code === 'unsupported_encoding' || error.code === 'not_found'
  const code = isUnknown ? UNIMPLEMENTED : rpcCode(error)
  const retryAfter = problemHeaders(error)['retry-after']
  const status = rpcStatus(code, error.message, retryAfter === undefined ? undefined : Number(retryAfter))
  return {
    'grpc-status': code,
    'grpc-message': error.message.replace(ESCAPED, (text) => escaped(text)),
    'grpc-status-details-bin': status.toString('base64'),
  }
}

function escaped(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
