import { BrokenFrameError } from '../../base/streams/bounded-frames.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'

/** Whether a field of a head has the type that the server expects. */
export type FieldCheck = (value: unknown) => boolean

/** The fields of the heads that a kind of process sends, by `type`. Other fields are ignored. */
export type HeadChecks = Readonly<Record<string, Readonly<Record<string, FieldCheck>>>>

/** @throws BrokenFrameError for a head of another type, or with a field that is not valid */
export function assertHead(checks: HeadChecks, head: JsonObject): void {
  const type = String(head['type'])
  const fields = Object.hasOwn(checks, type) ? checks[type] : undefined
  if (fields === undefined) throw new BrokenFrameError('its type is not known')
  for (const [name, isValid] of Object.entries(fields))
    if (!isValid(head[name])) throw new BrokenFrameError(`its field "${name}" of "${type}" is not valid`)
}

export const isText: FieldCheck = (value) => typeof value === 'string'
export const isTexts: FieldCheck = (value) => Array.isArray(value) && value.every(isText)
export const isId: FieldCheck = (value) => Number.isSafeInteger(value)
/** A number of things: never negative. */
export const isCount: FieldCheck = (value) => Number.isSafeInteger(value) && Number(value) >= 0
export const isFields: FieldCheck = isObject
export const isFieldsOrNull: FieldCheck = (value) => value === null || isObject(value)

/** A check of a field that may be absent or null. */
export function maybe(isValid: FieldCheck): FieldCheck {
  return (value) => value === undefined || value === null || isValid(value)
}

export function oneOf(...texts: readonly string[]): FieldCheck {
  return (value) => typeof value === 'string' && texts.includes(value)
}

export function listWith(fields: Readonly<Record<string, FieldCheck>>): FieldCheck {
  return (value) => Array.isArray(value) && value.every(objectWith(fields))
}

export function objectWith(fields: Readonly<Record<string, FieldCheck>>): FieldCheck {
  return (value) => isObject(value) && Object.entries(fields).every(([name, isValid]) => isValid(value[name]))
}
