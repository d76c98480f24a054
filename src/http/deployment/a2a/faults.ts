import { AppError } from '../../../base/errors.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { isRequestFaults } from '../../api/faults.ts'
import type { Version } from './model.ts'

/** Codes of JSON-RPC and of A2A, with their names in version 1.0. */
const FAULTS = {
  parse: [-32700, 'PARSE_ERROR'],
  invalid_request: [-32600, 'INVALID_REQUEST'],
  unknown_method: [-32601, 'METHOD_NOT_FOUND'],
  invalid_params: [-32602, 'INVALID_PARAMS'],
  internal: [-32603, 'INTERNAL'],
  task_not_found: [-32001, 'TASK_NOT_FOUND'],
  not_cancelable: [-32002, 'TASK_NOT_CANCELABLE'],
  no_push: [-32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  unsupported: [-32004, 'UNSUPPORTED_OPERATION'],
  content_type: [-32005, 'CONTENT_TYPE_NOT_SUPPORTED'],
  version: [-32009, 'VERSION_NOT_SUPPORTED'],
} as const

/** An error that the client gets as a JSON-RPC error, with status 200. */
export class A2aFault extends Error {
  readonly kind: keyof typeof FAULTS

  constructor(kind: keyof typeof FAULTS, message: string) {
    super(message)
    this.kind = kind
  }
}

/** The `error` of an answer. */
export function faultJson({ kind, message }: A2aFault, version: Version): JsonObject {
  const [code, reason] = FAULTS[kind]
  if (version === '0.3') return { code, message }
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }
  return { code, message, data: [info] }
}

/**
 * The fault for an error of a use case. @throws the error where clients read HTTP statuses: missing permissions, too many
 * requests, a server that cannot answer now
 */
export function toFault(error: unknown): A2aFault {
  if (error instanceof A2aFault) return error
  if (!(error instanceof AppError)) throw error
  const { code, status, message, details } = error
  if (code === 'not_found') return new A2aFault('task_not_found', message)
  if (status >= 500 || ![409, 422].includes(status)) throw error
  const text = isRequestFaults(details)
    ? details.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ')
    : message
  return new A2aFault('invalid_params', text)
}

/** The fault for an error after the answer has begun, when it can no longer be an HTTP status. */
export function toSentFault(error: unknown): A2aFault {
  try {
    return toFault(error)
  } catch {
    return new A2aFault('internal', error instanceof AppError ? error.message : 'Internal error')
  }
}
