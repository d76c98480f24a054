import { AppError } from '../../../src/base/errors.ts'
import { decodeRequest } from '../../../src/trace/decode/decode.ts'
import type { Decoded, RequestHead } from '../../../src/trace/decode/decoded.ts'
import { multipartBody, requestHead, type WirePart } from './wire-body.ts'

/** Decodes a multipart body of these parts; `end` replaces everything after the last part. */
export function decodeParts(parts: readonly WirePart[], end?: string): Decoded {
  return decodeRequest(requestHead(), multipartBody(parts, end))
}

export function decodeJson(
  kind: RequestHead['kind'],
  body: unknown,
  changes: Partial<RequestHead> = {},
): Decoded {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return decodeRequest(requestHead({ kind, ...changes }), Buffer.from(text))
}

/** Code of the AppError that `run` throws; `none` if `run` throws nothing. */
export function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
  return 'none'
}
