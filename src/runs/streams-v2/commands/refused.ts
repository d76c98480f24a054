import { type AppError, type ErrorCode, toAppError } from '../../../base/errors.ts'

/** The error codes of the protocol (V-3). */
export type RefusalCode =
  | 'invalid_argument'
  | 'unknown_command'
  | 'unknown_error'
  | 'no_such_run'
  | 'no_such_namespace'
  | 'no_such_interrupt'
  | 'no_such_checkpoint'
  | 'permission_denied'
  | 'not_supported'

/** The names of the refusals in the errors of the API. */
const CODES: Readonly<Record<RefusalCode, ErrorCode>> = {
  invalid_argument: 'invalid_request',
  unknown_command: 'not_found',
  unknown_error: 'internal',
  no_such_run: 'not_found',
  no_such_namespace: 'not_found',
  no_such_interrupt: 'not_found',
  no_such_checkpoint: 'not_found',
  permission_denied: 'permission_required',
  not_supported: 'not_implemented',
}

/** The refusal of a command, with a code of the protocol. */
export class Refused extends Error {
  readonly refusal: RefusalCode
  get code(): ErrorCode {
    return CODES[this.refusal]
  }
  constructor(refusal: RefusalCode, message: string) {
    super(message)
    this.refusal = refusal
  }
}

export function refusalOf({ code, status, message }: AppError): RefusalCode {
  if (code === 'forbidden' || code === 'permission_required') return 'permission_denied'
  if (code === 'not_implemented') return 'not_supported'
  if (code === 'not_found' && /checkpoint/i.test(message)) return 'no_such_checkpoint'
  return status >= 500 ? 'unknown_error' : 'invalid_argument'
}

/** Resolves with the result of `reading`, or with undefined if it fails with `not_found`. */
export async function ifFound<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (toAppError(error).code === 'not_found') return undefined
    throw error
  }
}
