import { readFileSync } from 'node:fs'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { isRedisAddress } from '../base/text/redis-address.ts'
import { issuePath } from './issue-path.ts'
import type { SchemaTypes } from './types.gen.ts'

/** Name of a schema: `message` for `schemas/message.schema.json`. */
export type SchemaName = keyof SchemaTypes

export interface FieldFault {
  code: FieldFaultCode
  /** JSON path from the value's top; '' for the value itself. */
  path: string
  /** The message without the path, e.g. `is required`. */
  message: string
}

export type CheckResult<T> = { ok: true; value: T } | { ok: false; faults: FieldFault[] }

/** Checks values against the JSON Schemas of `schemas/`. */
export interface Registry {
  /** Checks a value without changing it; reports at most MAX_FAULTS faults. */
  check<K extends SchemaName>(name: K, value: unknown): CheckResult<SchemaTypes[K]>
}

/** Maximum number of reported faults of one value. */
export const MAX_FAULTS = 100

const SCHEMA_DIR = new URL('../../schemas/', import.meta.url)
const SUFFIX = '.schema.json'
/** Weir's own annotations for readers and generators, which the check ignores. */
const ANNOTATIONS = ['x-unit', 'x-secret', 'x-expects', 'x-rule', 'x-packaged', 'x-empty', 'x-off']

/** Keyword of JSON Schema → code. */
const CODES = {
  required: 'missing_field',
  additionalProperties: 'unknown_field',
  unevaluatedProperties: 'unknown_field',
  type: 'wrong_type',
  enum: 'unknown_value',
  const: 'unknown_value',
  discriminator: 'unknown_value',
  format: 'bad_format',
  pattern: 'bad_format',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
  exclusiveMinimum: 'out_of_range',
  exclusiveMaximum: 'out_of_range',
} as const

/** `invalid_field` is for keywords without a code, `value_error` for rules that no schema has. */
export type FieldFaultCode = (typeof CODES)[keyof typeof CODES] | 'invalid_field' | 'value_error'

function codeOf(keyword: string): FieldFaultCode {
  return Object.hasOwn(CODES, keyword) ? CODES[keyword as keyof typeof CODES] : 'invalid_field'
}

/** Keywords whose errors only report that a branch failed, in addition to the errors of the branch. */
const SUMMARIES = new Set(['anyOf', 'oneOf', 'if'])

function readSchema(fileName: string): Record<string, unknown> {
  const schema = JSON.parse(readFileSync(new URL(fileName, SCHEMA_DIR), 'utf8')) as Record<string, unknown>
  return { ...schema, $id: fileName }
}

function referredFiles(node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return found
  for (const [key, value] of Object.entries(node)) {
    if (key === '$ref' && typeof value === 'string') {
      const file = value.replace(/#.*$/s, '').replace(/^\.\//, '')
      if (file !== '') found.add(file)
    } else referredFiles(value, found)
  }
  return found
}

/** Adds a schema and all schemas to which it refers, each once. */
function addWithReferences(ajv: Ajv2020, fileName: string): void {
  if (ajv.schemas[fileName] !== undefined || ajv.refs[fileName] !== undefined) return
  const schema = readSchema(fileName)
  ajv.addSchema(schema, fileName)
  for (const file of referredFiles(schema)) addWithReferences(ajv, file)
}

function messageOf(error: ErrorObject): string {
  const allowed: unknown = error.params['allowedValues']
  if (Array.isArray(allowed)) return `must be one of ${allowed.map((one) => one ?? 'null').join(', ')}`
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params['allowedValue'])}`
  if (error.keyword === 'discriminator')
    return `is not a known kind: ${JSON.stringify(error.params['tagValue'])}`
  if (error.keyword === 'required') return 'is required'
  if (error.keyword === 'additionalProperties') return 'is not a field of this object'
  return error.message ?? 'is not valid'
}

function toFault(error: ErrorObject, value: unknown): FieldFault {
  const { missingProperty, additionalProperty, tag } = error.params as Record<string, unknown>
  const last = missingProperty ?? additionalProperty ?? (error.keyword === 'discriminator' ? tag : undefined)
  return {
    code: codeOf(error.keyword),
    path: issuePath(value, error.instancePath, typeof last === 'string' ? last : undefined),
    message: messageOf(error),
  }
}

function toFaults(errors: readonly ErrorObject[], value: unknown): FieldFault[] {
  const details = errors.filter((error) => !SUMMARIES.has(error.keyword))
  const chosen = details.length > 0 ? details : errors
  const seen = new Set<string>()
  const faults: FieldFault[] = []
  for (const error of chosen) {
    const fault = toFault(error, value)
    const key = `${fault.path} ${fault.message}`
    if (seen.has(key)) continue
    seen.add(key)
    faults.push(fault)
    if (faults.length === MAX_FAULTS) break
  }
  return faults
}

/**
 * A registry that reads and compiles a schema when it is first used (about 10 ms), never at import. A missing or
 * invalid schema throws, because it is a fault of this program.
 */
export function createRegistry(): Registry {
  const ajv = new Ajv2020({
    discriminator: true,
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    validateFormats: true,
    // A test checks the schemas themselves, so a start need not compile the schema of schemas.
    meta: false,
    validateSchema: false,
  })
  ajvFormats.default(ajv)
  ajv.addFormat('redis-address', isRedisAddress)
  ajv.addVocabulary(ANNOTATIONS)
  const compiled = new Map<string, ValidateFunction>()

  const validatorOf = (name: string): ValidateFunction => {
    const known = compiled.get(name)
    if (known !== undefined) return known
    const fileName = `${name}${SUFFIX}`
    addWithReferences(ajv, fileName)
    const validate = ajv.getSchema(fileName)
    if (validate === undefined) throw new TypeError(`no schema named ${name}`)
    compiled.set(name, validate)
    return validate
  }

  return {
    check<K extends SchemaName>(name: K, value: unknown): CheckResult<SchemaTypes[K]> {
      const validate = validatorOf(name)
      if (validate(value)) return { ok: true, value: value as SchemaTypes[K] }
      return { ok: false, faults: toFaults(validate.errors ?? [], value) }
    },
  }
}
