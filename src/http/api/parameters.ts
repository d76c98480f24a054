import { AppError } from '../../base/errors.ts'
import { parseUuid } from '../../base/ids.ts'
import { parseUsageTime } from '../../usage/report/time.ts'
import type { RequestFault } from './faults.ts'

/** A JSON Schema in an OpenAPI 3.1 document. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** One parameter of a query or a path: its description, and the conversion of its text to a value. */
export interface Parameter<T> {
  description: string
  required: boolean
  schema: JsonSchema
  /** Reads all values sent under the name, in order; throws ParameterFault for an invalid one. */
  read(values: readonly string[]): T
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>

/** The values that `P` reads. */
export type ParameterValues<P> = { [K in keyof P]: P[K] extends Parameter<infer T> ? T : never }

/** The fault of an invalid value, in FastAPI's wording. */
class ParameterFault extends Error {
  readonly type: string

  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}

function readUuid(value: string): string {
  const uuid = parseUuid(value)
  if (uuid === undefined) throw new ParameterFault('uuid_parsing', 'Input should be a valid UUID')
  return uuid
}

/** A parameter that LangSmith has and this server does not: refused when it is sent, instead of ignored. */
export function unsupportedParameter(): Parameter<undefined> {
  const read = (values: readonly string[]): undefined => {
    if (values.some((value) => value !== '' && value.toLowerCase() !== 'false'))
      throw new ParameterFault('not_supported', 'This server does not support this parameter')
    return undefined
  }
  return { description: 'Not supported: 422.', required: false, schema: { type: 'string' }, read }
}

/** Optional text; the last value counts. */
export function textParameter(description: string): Parameter<string | undefined> {
  return { description, required: false, schema: { type: 'string' }, read: (values) => values.at(-1) }
}

/** Required word, ignoring case; the last value counts. */
export function wordParameter<const W extends string>(
  description: string,
  words: readonly [W, ...W[]],
): Parameter<W> {
  const choice = choiceParameter(description, words)
  const text = requiredTextParameter(description)
  return { ...choice, required: true, read: (values) => choice.read([text.read(values).toUpperCase()]) }
}

export function requiredTextParameter(description: string): Parameter<string> {
  const read = (values: readonly string[]): string => {
    const value = values.at(-1)
    if (value === undefined) throw new ParameterFault('missing', 'Field required')
    return value
  }
  return { description, required: true, schema: { type: 'string' }, read }
}

/** Texts under one name, repeated or separated by commas. */
export function textsParameter(description: string): Parameter<string[]> {
  const schema = { type: 'array', items: { type: 'string' } }
  const read = (values: readonly string[]): string[] =>
    values.flatMap((value) => value.split(',')).filter((value) => value !== '')
  return { description, required: false, schema, read }
}

/** Texts under one name, repeated; commas do not separate them. */
export function repeatedTextParameter(description: string): Parameter<string[]> {
  const schema = { type: 'array', items: { type: 'string' } }
  return { description, required: false, schema, read: (values) => values.filter((value) => value !== '') }
}

/** Words under one name: repeated, separated by commas, or as a JSON array, which is how an SDK sends several. */
export function wordsParameter(description: string): Parameter<string[]> {
  const schema = { type: 'array', items: { type: 'string' } }
  const read = (values: readonly string[]): string[] =>
    values.flatMap((value) => value.match(/[^\s,"[\]]+/g) ?? [])
  return { description, required: false, schema, read }
}

/** Words of a fixed list: repeated, separated by commas, or as a JSON array; an empty list when not sent. */
export function choicesParameter<const W extends string>(
  description: string,
  words: readonly [W, ...W[]],
): Parameter<W[]> {
  const texts = wordsParameter(description)
  const choice = choiceParameter(description, words)
  return {
    ...texts,
    schema: { type: 'array', items: { type: 'string', enum: words } },
    read: (values) => texts.read(values).map((word) => choice.read([word])),
  }
}

export function uuidParameter(description: string): Parameter<string> {
  const read = (values: readonly string[]): string => readUuid(values.at(-1) ?? '')
  return { description, required: true, schema: { type: 'string', format: 'uuid' }, read }
}

/** Optional uuid; the last value counts. */
export function optionalUuidParameter(description: string): Parameter<string | undefined> {
  const read = (values: readonly string[]): string | undefined => {
    const value = values.at(-1)
    return value === undefined || value === '' ? undefined : readUuid(value)
  }
  return { description, required: false, schema: { type: 'string', format: 'uuid' }, read }
}

/** Uuids under one name, repeated or separated by commas; at least `minimum`. */
export function uuidsParameter(description: string, minimum = 0): Parameter<string[]> {
  const schema = { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: minimum }
  const texts = textsParameter(description)
  const read = (values: readonly string[]): string[] => {
    const found = texts.read(values).map(readUuid)
    if (found.length < minimum) throw new ParameterFault('missing', 'Field required')
    return found
  }
  return { description, required: minimum > 0, schema, read }
}

/** A whole number within bounds; the value is `otherwise` when the parameter was not sent. */
export function integerParameter(
  description: string,
  bounds: { minimum: number; maximum: number; otherwise: number },
): Parameter<number> {
  const { minimum, maximum, otherwise } = bounds
  const read = (values: readonly string[]): number => {
    const value = values.at(-1)
    if (value === undefined || value === '') return otherwise
    if (!/^-?\d{1,15}$/.test(value))
      throw new ParameterFault('int_parsing', 'Input should be a valid integer')
    const number = Number(value)
    if (number < minimum) {
      throw new ParameterFault('greater_than_equal', `Input should be greater than or equal to ${minimum}`)
    }
    if (number > maximum) {
      throw new ParameterFault('less_than_equal', `Input should be less than or equal to ${maximum}`)
    }
    return number
  }
  return {
    description,
    required: false,
    schema: { type: 'integer', minimum, maximum, default: otherwise },
    read,
  }
}

/** The part of a list that a request wants; `otherwise` is the value of `limit` when it was not sent, `maximum` its bound. */
export function partQuery(
  otherwise: number,
  maximum = 100,
): { limit: Parameter<number>; offset: Parameter<number> } {
  return {
    limit: integerParameter('Maximum number of records.', { minimum: 1, maximum, otherwise }),
    offset: integerParameter('Number of records to skip.', {
      minimum: 0,
      maximum: 1_000_000_000,
      otherwise: 0,
    }),
  }
}

/**
 * True for `true`, `1`, `yes`, `on`; false for `false`, `0`, `no`, `off`; the value is `otherwise` when the parameter
 * was not sent or is empty.
 */
export function flagParameter<T extends boolean | undefined>(
  description: string,
  otherwise: T,
): Parameter<boolean | T> {
  const read = (values: readonly string[]): boolean | T => {
    const value = values.at(-1)?.toLowerCase()
    if (value === undefined || value === '') return otherwise
    if (['true', '1', 'yes', 'on'].includes(value)) return true
    if (['false', '0', 'no', 'off'].includes(value)) return false
    throw new ParameterFault('bool_parsing', 'Input should be a valid boolean')
  }
  const schema = { type: 'boolean', ...(otherwise !== undefined && { default: otherwise }) }
  return { description, required: false, schema, read }
}

/** A parameter with one of a fixed list of words; the first word is the default. */
export function choiceParameter<const W extends string>(
  description: string,
  words: readonly [W, ...W[]],
): Parameter<W> {
  const read = (values: readonly string[]): W => {
    const value = values.at(-1)
    if (value === undefined) return words[0]
    const word = words.find((candidate) => candidate === value)
    if (word === undefined) throw new ParameterFault('enum', `Input should be one of ${words.join(', ')}`)
    return word
  }
  return { description, required: false, schema: { type: 'string', enum: words, default: words[0] }, read }
}

/** A parameter with one of a fixed list of words, without a default. */
export function optionalChoiceParameter<const W extends string>(
  description: string,
  words: readonly [W, ...W[]],
): Parameter<W | undefined> {
  const choice = choiceParameter(description, words)
  const read = (values: readonly string[]): W | undefined =>
    values.length === 0 ? undefined : choice.read(values)
  return { description, required: false, schema: { type: 'string', enum: words }, read }
}

/**
 * Required ISO 8601 time, as epoch milliseconds with a fraction if it is more precise. A time without an offset is in
 * UTC.
 */
export function timeParameter(description: string): Parameter<number> {
  const read = (values: readonly string[]): number => {
    const value = values.at(-1)
    if (value === undefined || value === '') throw new ParameterFault('missing', 'Field required')
    const time = parseUsageTime(value)
    if (time === undefined) throw new ParameterFault('datetime_parsing', 'Input should be a valid datetime')
    return time
  }
  return { description, required: true, schema: { type: 'string', format: 'date-time' }, read }
}

/** As `timeParameter`, but optional. */
export function optionalTimeParameter(description: string): Parameter<number | undefined> {
  const time = timeParameter(description)
  const read = (values: readonly string[]): number | undefined =>
    values.length === 0 ? undefined : time.read(values)
  return { ...time, required: false, read }
}

/**
 * The values of `parameters`; other parameters are ignored, as LangSmith does. @throws AppError invalid_request naming
 * every invalid parameter
 */
export function readParameters<P extends Parameters>(
  parameters: P,
  place: 'query' | 'path',
  valuesOf: (name: string) => readonly string[],
): ParameterValues<P> {
  const faults: RequestFault[] = []
  const values: Record<string, unknown> = {}
  for (const [name, parameter] of Object.entries(parameters)) {
    try {
      values[name] = parameter.read(valuesOf(name))
    } catch (error) {
      if (!(error instanceof ParameterFault)) throw error
      faults.push({ loc: [place, name], msg: error.message, type: error.type })
    }
  }
  if (faults.length > 0) throw new AppError('invalid_request', { details: faults })
  return values as ParameterValues<P>
}
