import { AppError } from '../../../base/errors.ts'
import type { ValueType } from '../checkpoints/rows.ts'

const VALUE_TYPE = /^(json|bytes|python:[a-z]{1,16})$/

/** A request of a host, which is not trusted. */
export type Body = Readonly<Record<string, unknown>>

/** True for an object that is not a list. */
export function isRecord(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text of the request. @throws AppError invalid_request */
export function textField(body: Body, name: string): string {
  const value = body[name]
  if (typeof value !== 'string') throw invalid(name)
  return value
}

/** As `textField`, but undefined if the request has no such field. */
export function maybeTextField(body: Body, name: string): string | undefined {
  return body[name] === undefined || body[name] === null ? undefined : textField(body, name)
}

/** An integer of the request. @throws AppError invalid_request */
export function integerField(body: Body, name: string): number {
  const value = body[name]
  if (!Number.isSafeInteger(value)) throw invalid(name)
  return value as number
}

/** As `integerField`, but undefined if the request has no such field. */
export function maybeIntegerField(body: Body, name: string): number | undefined {
  return body[name] === undefined || body[name] === null ? undefined : integerField(body, name)
}

/** A list of objects. @throws AppError invalid_request */
export function recordsField(body: Body, name: string): Body[] {
  const value = body[name]
  if (!Array.isArray(value) || !value.every(isRecord)) throw invalid(name)
  return value
}

/** A list of texts. @throws AppError invalid_request */
export function textsField(body: Body, name: string): string[] {
  const value = body[name]
  if (!isTexts(value)) throw invalid(name)
  return value
}

/** The type tag of a value. @throws AppError invalid_request */
export function typeTag(body: Body): ValueType {
  const type = textField(body, 'type')
  if (!VALUE_TYPE.test(type)) throw invalid('type')
  return type as ValueType
}

/** As in `store-item-write.schema.json`. */
const MAX_TTL_MINUTES = 1e9

/** @throws AppError invalid_request for a value that is not an operation of LangGraph's long-term store */
export function assertItems(operation: unknown): void {
  if (!isRecord(operation)) throw invalid('operations')
  const { key, value, namespace, namespacePrefix, index, matchConditions, ttl, refresh_ttl } = operation
  if (!isMissing(ttl) && !(typeof ttl === 'number' && ttl > 0 && ttl <= MAX_TTL_MINUTES)) throw invalid('ttl')
  if (!isMissing(refresh_ttl) && typeof refresh_ttl !== 'boolean') throw invalid('refresh_ttl')
  for (const name of ['limit', 'offset', 'maxDepth']) maybeIntegerField(operation, name)
  if ('namespacePrefix' in operation) {
    if (!isTexts(namespacePrefix)) throw invalid('namespacePrefix')
    maybeTextField(operation, 'query')
    if (!isMissing(operation['filter']) && !isRecord(operation['filter'])) throw invalid('filter')
  } else if ('key' in operation) {
    if (typeof key !== 'string' || !isTexts(namespace)) throw invalid('key')
    if ('value' in operation && value !== null && !isRecord(value)) throw invalid('value')
    if (!isMissing(index) && index !== false && !isTexts(index)) throw invalid('index')
  } else if (!isMissing(matchConditions)) {
    for (const condition of recordsField(operation, 'matchConditions'))
      if (!isTexts(condition['path'])) throw invalid('matchConditions')
  }
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function invalid(name: string): AppError {
  return new AppError('invalid_request', { message: `The storage request has no valid "${name}".` })
}
