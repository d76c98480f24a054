import { randomUUID } from 'node:crypto'
import { between, chance, pick, type Random } from '../seeded-random.ts'

/** The part of JSON Schema that the OpenAPI documents use. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  items?: Schema
  prefixItems?: Schema[]
  required?: string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  allOf?: Schema[]
}

export interface Draw {
  random: Random
  /** Returns the schema that a `$ref` of the document refers to. */
  resolve(ref: string): Schema
  /** Returns a value that a response of the server had in a field of this name. */
  known(name: string): string | undefined
  /** Share of values that violate their schema. */
  broken: number
}

const MAX_DEPTH = 6
const LONG = 100_000
const LETTERS = 'abcAZ09 _-.é*/'.split('')
/** Texts that often break parsers, databases and templates. */
const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\u202e',
  '💥'.repeat(50),
  '../../../etc/passwd',
  "'; DROP TABLE runs; --",
  '" or 1=1',
  '%00%ff%zz',
  '${7*7}',
  '__proto__',
  'constructor',
  'null',
  'NaN',
  '1e999',
  '-0',
  '0x10',
  '9007199254740993',
  '99999999999999999999999999',
  '2026-13-45T99:99:99Z',
  '+275760-09-13T00:00:00Z',
  '0000-01-01T00:00:00Z',
  'and(eq(name, "x"',
  'has(metadata, \'{"a": [\')',
  '(a+)+$',
  'x'.repeat(LONG),
]
const HOSTILE_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  1,
  0.1,
  -1.5,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  1e18,
  1e300,
  5e-324,
  86_400_001,
]
const KEYS: readonly string[] = [
  'a',
  '',
  '__proto__',
  'constructor',
  'thread_id',
  '__pregel_read',
  '$',
  'a.b',
  '\0',
]

export function hostileText(random: Random): string {
  return pick(random, HOSTILE_TEXTS)
}

/** Any JSON value, without a schema. */
export function anyValue(random: Random, depth = 0): unknown {
  const kind = between(random, 0, depth < MAX_DEPTH ? 9 : 6)
  if (kind <= 2) return hostileText(random)
  if (kind <= 4) return pick(random, HOSTILE_NUMBERS)
  if (kind === 5) return null
  if (kind === 6) return chance(random, 0.5)
  const size = between(random, 0, 3)
  if (kind === 7) return Array.from({ length: size }, () => anyValue(random, depth + 1))
  if (kind === 8) return nested(random, between(random, 1, 2_000))
  // Object.fromEntries, because a key `__proto__` in an object literal would set the prototype.
  return Object.fromEntries(
    Array.from({ length: size }, () => [pick(random, KEYS), anyValue(random, depth + 1)]),
  )
}

/** Arrays or objects `levels` deep. */
function nested(random: Random, levels: number): unknown {
  let value: unknown = 1
  const asArray = chance(random, 0.5)
  for (let i = 0; i < levels; i++) value = asArray ? [value] : { a: value }
  return value
}

/** A value of the schema. At each position, a value that violates it is taken with probability `broken`. */
export function valueOf(schema: Schema, draw: Draw, depth = 0): unknown {
  const { random } = draw
  if (chance(random, draw.broken)) return anyValue(random)
  if (schema.$ref !== undefined)
    return depth > 2 * MAX_DEPTH ? null : valueOf(draw.resolve(schema.$ref), draw, depth + 1)
  if ('const' in schema) return schema.const
  if (schema.enum !== undefined) return pick(random, schema.enum)
  if (schema.anyOf !== undefined) return valueOf(pick(random, schema.anyOf), draw, depth + 1)
  if (schema.allOf !== undefined) return mergedValue(schema, draw, depth)
  const types = schema.type === undefined ? [] : [schema.type].flat()
  switch (types.length === 0 ? undefined : pick(random, types)) {
    case 'string':
      return textOf(schema, draw)
    case 'integer':
      return Math.floor(numberOf(schema, random))
    case 'number':
      return numberOf(schema, random)
    case 'boolean':
      return chance(random, 0.5)
    case 'null':
      return null
    case 'array':
      return arrayOf(schema, draw, depth)
    case 'object':
      return objectOf(schema, draw, depth)
    default:
      return schema.properties === undefined ? anyValue(random, depth) : objectOf(schema, draw, depth)
  }
}

function mergedValue({ allOf = [], ...rest }: Schema, draw: Draw, depth: number): unknown {
  const parts = [rest, ...allOf].map((part) => valueOf(part, draw, depth + 1))
  return parts.every((part) => typeof part === 'object') ? Object.assign({}, ...parts) : parts.at(-1)
}

/** A value for a field; an id field mostly gets the id of a known record. */
function fieldOf(name: string, schema: Schema, draw: Draw, depth: number): unknown {
  const known = draw.known(name.replace(/_(id|uri)s$/, '_$1'))
  if (known === undefined || !chance(draw.random, 0.8)) return valueOf(schema, draw, depth + 1)
  return /_(?:id|uri)s$/.test(name) ? [known] : known
}

function textOf({ format, pattern, minLength = 0, maxLength = 50 }: Schema, { random }: Draw): string {
  if (format === 'uuid' || pattern?.includes('0-9a-f') === true) return randomUUID()
  if (format === 'date-time') return new Date(between(random, 0, 2_000_000_000) * 1000).toISOString()
  if (chance(random, 0.2)) return hostileText(random)
  const length = Math.min(maxLength, Math.max(minLength, between(random, 0, 12)))
  return Array.from({ length }, () => pick(random, LETTERS)).join('')
}

function numberOf({ minimum, maximum }: Schema, random: Random): number {
  if (chance(random, 0.2)) return pick(random, [minimum ?? -1, maximum ?? 2 ** 31])
  const least = minimum ?? 0
  return least + random() * Math.min((maximum ?? least + 100) - least, 1_000)
}

function arrayOf({ items = {}, prefixItems, maxItems = 3 }: Schema, draw: Draw, depth: number): unknown[] {
  if (prefixItems !== undefined) return prefixItems.map((item) => valueOf(item, draw, depth + 1))
  const length = depth > MAX_DEPTH ? 0 : between(draw.random, 0, Math.min(maxItems, 3))
  return Array.from({ length }, () => valueOf(items, draw, depth + 1))
}

/** Fields that are never sent, because the server would run random text as a shell command. */
const COMMANDS: ReadonlySet<string> = new Set(['install_command', 'build_command'])

function objectOf(
  { properties = {}, required = [], additionalProperties }: Schema,
  draw: Draw,
  depth: number,
): object {
  const { random } = draw
  const entries: [string, unknown][] = []
  for (const [name, schema] of Object.entries(properties)) {
    if (COMMANDS.has(name)) continue
    const share = required.includes(name) ? 1 - draw.broken : depth > MAX_DEPTH ? 0 : 0.4
    if (chance(random, share)) entries.push([name, fieldOf(name, schema, draw, depth)])
  }
  if (additionalProperties !== false && chance(random, 0.2)) {
    const rest = typeof additionalProperties === 'object' ? additionalProperties : {}
    entries.push([pick(random, KEYS), valueOf(rest, draw, depth + 1)])
  }
  return Object.fromEntries(entries)
}
