export type Schema = Readonly<Record<string, unknown>>

/**
 * Maximum number of schemas that are visited for one field, because a `$ref` may lead to itself, and unions may be
 * nested.
 */
const MOST_VISITED = 64

/** True for a JSON object. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A step of a JSON pointer (RFC 6901) in a URI fragment; undefined for one that is not well formed. */
function stepOf(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

/** What a local `$ref`, such as `#/$defs/Size`, names in `root`; undefined for any other reference. */
function referred(root: Schema, ref: string): unknown {
  const [start, ...parts] = ref.split('/')
  if (start !== '#') return undefined
  let found: unknown = root
  for (const part of parts) {
    const step = stepOf(part)
    if (step === undefined || typeof found !== 'object' || found === null || !Object.hasOwn(found, step))
      return undefined
    found = (found as Schema)[step]
  }
  return found
}

/** The schemas that a reference or a union stands for; undefined for a schema that stands for itself. */
function innerOf(root: Schema, schema: Schema): readonly unknown[] | undefined {
  const { $ref, anyOf, oneOf, allOf } = schema
  if (typeof $ref === 'string') return [referred(root, $ref)]
  // Next to these keywords, a union only restricts the values that they describe.
  if ('type' in schema || 'properties' in schema) return undefined
  if (Array.isArray(anyOf)) return anyOf as unknown[]
  if (Array.isArray(oneOf)) return oneOf as unknown[]
  return Array.isArray(allOf) && allOf.length === 1 ? (allOf as unknown[]) : undefined
}

/**
 * The alternatives of a schema: a value satisfies the schema if it satisfies one of them. Local references and unions
 * are resolved. Undefined where a reference leads nowhere or to itself, or where there are more than 64.
 */
export function alternativesOf(root: Schema, schema: unknown): Schema[] | undefined {
  const found: Schema[] = []
  const open: unknown[] = [schema]
  for (let visited = 0; open.length > 0; visited += 1) {
    const next = open.shift()
    if (visited === MOST_VISITED || !isSchema(next)) return undefined
    const inner = 'enum' in next || 'const' in next ? undefined : innerOf(root, next)
    if (inner === undefined) found.push(next)
    else open.unshift(...inner)
    if (open.length > MOST_VISITED) return undefined
  }
  return found
}

/** A value that can be chosen, with a text that no other choice has. */
export interface Choice {
  text: string
  value: unknown
}

function valuesOf(schema: Schema): readonly unknown[] | undefined {
  if (Array.isArray(schema['enum'])) return schema['enum'] as unknown[]
  if ('const' in schema) return [schema['const']]
  return schema['type'] === 'null' ? [null] : undefined
}

/**
 * The values that the alternatives list; undefined when they permit others. The text of a string is the string itself,
 * unless it looks like the JSON of another value. The text of every other value is its JSON.
 */
export function choicesOf(alternatives: readonly Schema[]): Choice[] | undefined {
  const lists = alternatives.map(valuesOf)
  if (lists.includes(undefined) || !alternatives.some((one) => one['type'] !== 'null')) return undefined
  const values = lists.flatMap((list) => list ?? [])
  const texts = new Set<string>([
    '',
    ...values.flatMap((one) => (typeof one === 'string' ? [] : jsonOf(one))),
  ])
  const choices = new Map<string, Choice>()
  for (const value of values) {
    const isTaken = typeof value !== 'string' || value.startsWith('"') || texts.has(value)
    choices.set(jsonOf(value), { text: isTaken ? jsonOf(value) : value, value })
  }
  return [...choices.values()]
}

/** The JSON of a value, to compare values by. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
