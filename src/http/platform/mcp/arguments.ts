import type { JsonObject, JsonValue } from '../../../schema/json.ts'

/** A failure of a tool that its caller can mend: a text that says what to do next. */
export class ToolFailure extends Error {}

interface ArgumentBase {
  description: string
  required?: boolean
}

export type ArgumentSpec =
  | (ArgumentBase & { type: 'text' })
  | (ArgumentBase & { type: 'flag' })
  | (ArgumentBase & { type: 'choice'; choices: readonly string[] })
  | (ArgumentBase & { type: 'integer'; minimum: number; maximum: number; otherwise?: number })
  /** JSON of any kind, or its text. */
  | (ArgumentBase & { type: 'json' })

export type ArgumentSpecs = Readonly<Record<string, ArgumentSpec>>

/** The checked arguments of a call. */
export interface Arguments {
  text(name: string): string | undefined
  required(name: string): string
  /** The value, or the default of its specification. */
  integer(name: string): number
  flag(name: string): boolean | undefined
  json(name: string): JsonValue | undefined
}

export function inputSchema(specs: ArgumentSpecs): JsonObject {
  const properties = Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, schemaOf(spec)]))
  const required = Object.keys(specs).filter((name) => specs[name]?.required === true)
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

function schemaOf(spec: ArgumentSpec): JsonObject {
  const { description } = spec
  if (spec.type === 'integer') {
    const { minimum, maximum, otherwise } = spec
    const range = { type: 'integer', minimum, maximum }
    return { ...range, ...(otherwise !== undefined && { default: otherwise }), description }
  }
  if (spec.type === 'choice') return { type: 'string', enum: [...spec.choices], description }
  if (spec.type === 'flag') return { type: 'string', enum: ['true', 'false'], description }
  return spec.type === 'json' ? { description } : { type: 'string', description }
}

/** Checks the arguments of a call of `tool`. @throws ToolFailure that names the right arguments */
export function readToolArguments(tool: string, specs: ArgumentSpecs, sent: JsonObject): Arguments {
  const names = Object.keys(specs)
  const known = names.length === 0 ? 'no arguments' : names.join(', ')
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(specs, name))
      throw new ToolFailure(`Unknown argument "${name.slice(0, 80)}". ${tool} takes ${known}.`)
  }
  const values = new Map<string, JsonValue>()
  for (const [name, spec] of Object.entries(specs)) {
    const value = sent[name]
    if (value !== undefined && value !== null && value !== '') values.set(name, valueOf(name, spec, value))
    else if (spec.required === true)
      throw new ToolFailure(`"${name}" is missing: ${spec.description} ${tool} takes ${known}.`)
  }
  const textOf = (name: string): string | undefined => {
    const value = values.get(name)
    return value === undefined ? undefined : String(value)
  }
  return {
    text: textOf,
    required: (name) => textOf(name) ?? '',
    integer(name) {
      const spec = specs[name]
      return Number(values.get(name) ?? (spec?.type === 'integer' ? spec.otherwise : undefined) ?? 0)
    },
    flag: (name) => (values.has(name) ? values.get(name) === true : undefined),
    json: (name) => values.get(name),
  }
}

function valueOf(name: string, spec: ArgumentSpec, value: JsonValue): JsonValue {
  if (spec.type === 'json') return value
  if (typeof value === 'object') throw new ToolFailure(`"${name}" must be a text or a number.`)
  const text = String(value)
  if (spec.type === 'text') return text
  if (spec.type === 'choice') {
    if (spec.choices.includes(text)) return text
    throw new ToolFailure(`"${name}" must be one of ${spec.choices.join(', ')}.`)
  }
  if (spec.type === 'flag') {
    if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
    throw new ToolFailure(`"${name}" must be "true" or "false".`)
  }
  const number = Number(text)
  if (Number.isInteger(number) && number >= spec.minimum && number <= spec.maximum) return number
  throw new ToolFailure(`"${name}" must be a whole number from ${spec.minimum} to ${spec.maximum}.`)
}
