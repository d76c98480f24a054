import type { JsonValue } from './json.ts'
import type { CheckResult, Registry, SchemaName } from './registry.ts'
import type { SchemaTypes } from './types.gen.ts'

/** What TypeScript's library does not declare yet. */
interface RawJsonSource {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): object
}

const { parse, rawJSON } = JSON as unknown as RawJsonSource

/** An integer that no JavaScript number can hold, as it was written. JSON.stringify prints it so. */
class ExactInteger {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The nearest number, for code that compares or calculates. */
  valueOf(): number {
    return Number(this.text)
  }

  toString(): string {
    return this.text
  }

  toJSON(): object {
    return rawJSON(this.text)
  }
}

/** Whether the value is such an integer, which code about objects would take for one. */
export function isExactInteger(value: unknown): value is ExactInteger {
  return value instanceof ExactInteger
}

const MANY_DIGITS = /\d{16}/
const INTEGER = /^-?\d+$/

/**
 * Like JSON.parse, for values that Weir only stores and passes on: integers beyond 2^53, such as ids of other systems, keep
 * all their digits. Two of them are equal for `containsJson`. A schema takes such an integer for an object: use `checkExact`.
 */
export function parseExact(text: string): JsonValue {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text) as JsonValue
  return parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source)
      ? new ExactInteger(source)
      : value,
  ) as JsonValue
}

function holdsExactInteger(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return isExactInteger(value) || Object.values(value).some(holdsExactInteger)
}

/**
 * Like `check` of the registry, for a value of `parseExact`: a schema sees a number in place of each exact integer. The
 * integers keep their digits unless a field must be a number.
 */
export function checkExact<K extends SchemaName>(
  registry: Registry,
  name: K,
  value: unknown,
): CheckResult<SchemaTypes[K]> {
  if (!holdsExactInteger(value)) return registry.check(name, value)
  const plain = registry.check(name, JSON.parse(JSON.stringify(value)))
  if (!plain.ok) return plain
  const exact = registry.check(name, value)
  return exact.ok ? exact : plain
}
