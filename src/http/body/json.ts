import type { IncomingMessage } from 'node:http'
import { AppError } from '../../base/errors.ts'
import { checkExact, parseExact } from '../../schema/exact-json.ts'
import type { JsonValue } from '../../schema/json.ts'
import type { FieldFault, Registry, SchemaName } from '../../schema/registry.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { isTooDeep } from '../../trace/json/json-text.ts'
import type { RequestFault } from '../api/faults.ts'

/** Maximum bytes of a JSON body of routes other than ingest. */
export const MAX_JSON_BODY_BYTES = 1024 * 1024

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|[^.[\]]+/g

/** Converts a path to FastAPI's form: `runs[0].name` becomes `["body", "runs", 0, "name"]`. */
export function toLoc(place: 'body' | 'query', path: string): RequestFault['loc'] {
  const steps = [...path.matchAll(STEP)].map(([text, quoted, index]) => {
    if (index !== undefined) return Number(index)
    return quoted === undefined ? text : (JSON.parse(`"${quoted}"`) as string)
  })
  return [place, ...steps]
}

/** The 422 error for faults in a body. */
export function bodyFault(wrong: readonly FieldFault[]): AppError {
  const faults: RequestFault[] = wrong.map(({ code, path, message }) => ({
    loc: toLoc('body', path),
    msg: message,
    type: code,
  }))
  return new AppError('invalid_request', { details: faults })
}

/** Content types that browsers send to other sites without a preflight request, and that some clients use for JSON. */
const UNASKED_TYPES = new Set(['', 'text/plain'])

/**
 * With `isStrict` the content type must be JSON.
 * @throws AppError unsupported_media_type
 */
export function assertJsonType({ headers }: Pick<IncomingMessage, 'headers'>, isStrict: boolean): void {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (UNASKED_TYPES.has(type) && !isStrict) return
  if (/^application\/(.+\+)?json$/.test(type)) return
  throw new AppError('unsupported_media_type', { message: 'This route accepts application/json.' })
}

/** @throws AppError unsupported_encoding */
export function assertPlainBody({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() === 'identity') return
  throw new AppError('unsupported_encoding', { message: 'This route accepts no Content-Encoding.' })
}

/**
 * Parses a body and checks it against its schema. Messages never repeat the body. @throws AppError invalid_json,
 * invalid_request
 */
export function parseJsonBody<K extends SchemaName>(
  bytes: Uint8Array,
  schema: K,
  registry: Registry,
): SchemaTypes[K] {
  const text = new TextDecoder().decode(bytes)
  let value: JsonValue
  let tooDeep: boolean
  try {
    value = parseExact(text)
    tooDeep = isTooDeep(text, value)
  } catch {
    throw new AppError('invalid_json')
  }
  if (tooDeep) throw new AppError('invalid_json', { message: 'The body is nested too deeply.' })
  const result = checkExact(registry, schema, value)
  if (!result.ok) throw bodyFault(result.faults)
  return result.value
}
