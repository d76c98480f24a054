import type { IncomingMessage } from 'node:http'
import { AppError } from '../base/errors.ts'
import type { Issue } from '../schema/issue.ts'
import type { JsonValue } from '../schema/json.ts'
import type { Registry, SchemaName } from '../schema/registry.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import { isTooDeep } from '../trace/json-text.ts'
import type { RequestFault } from './problem.ts'

/** Bytes of a JSON body of any route that is not ingest. */
export const MAX_JSON_BODY_BYTES = 1024 * 1024

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|[^.[\]]+/g

/** `runs[0].name` as FastAPI writes it: `["body", "runs", 0, "name"]`. */
export function toLoc(place: 'body' | 'query', path: string): RequestFault['loc'] {
  const steps = [...path.matchAll(STEP)].map(([text, quoted, index]) => {
    if (index !== undefined) return Number(index)
    return quoted === undefined ? text : (JSON.parse(`"${quoted}"`) as string)
  })
  return [place, ...steps]
}

/** The 422 for faults that were found in a body. */
export function bodyFault(issues: readonly Pick<Issue, 'code' | 'path' | 'message'>[]): AppError {
  const faults: RequestFault[] = issues.map(({ code, path, message }) => ({
    loc: toLoc('body', path),
    msg: message,
    type: code,
  }))
  return new AppError('invalid_request', { details: faults })
}

/** What browsers send to other sites without asking these first, and what some clients label JSON with. */
const UNASKED_TYPES = new Set(['', 'text/plain'])

/**
 * With `isStrict` a body must say that it is JSON.
 * @throws AppError unsupported_media_type
 */
export function assertJsonType({ headers }: Pick<IncomingMessage, 'headers'>, isStrict: boolean): void {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (UNASKED_TYPES.has(type) && !isStrict) return
  if (/^application\/(.+\+)?json$/.test(type)) return
  throw new AppError('unsupported_media_type', { message: 'This route takes application/json.' })
}

/** @throws AppError unsupported_encoding */
export function assertPlainBody({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() === 'identity') return
  throw new AppError('unsupported_encoding', { message: 'This route takes no Content-Encoding.' })
}

/**
 * The body as a value that passes its schema. The message never repeats the body.
 * @throws AppError invalid_json, invalid_request
 */
export function parseJsonBody<K extends SchemaName>(
  bytes: Uint8Array,
  schema: K,
  registry: Registry,
): SchemaTypes[K] {
  let value: JsonValue
  let tooDeep: boolean
  try {
    const text = new TextDecoder().decode(bytes)
    value = JSON.parse(text) as JsonValue
    tooDeep = isTooDeep(text, value)
  } catch {
    throw new AppError('invalid_json')
  }
  if (tooDeep) throw new AppError('invalid_json', { message: 'The body is nested too deeply.' })
  const result = registry.check(schema, value)
  if (!result.ok) throw bodyFault(result.issues)
  return result.value
}
