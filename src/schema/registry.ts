import { readFileSync } from 'node:fs'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { Issue } from './issue.ts'
import { issuePath } from './issue-path.ts'
import type { SchemaTypes } from './types.gen.ts'

/** Name of a schema: `message` for `schemas/message.schema.json`. */
export type SchemaName = keyof SchemaTypes

/** The value with its type, or what is wrong with it. */
export type CheckResult<T> = { ok: true; value: T } | { ok: false; issues: Issue[] }

/** Checks values against the JSON Schemas of `schemas/`. */
export interface Registry {
  /** Never changes the value; at most MAX_ISSUES issues, each with a path from the value's top. */
  check<K extends SchemaName>(name: K, value: unknown): CheckResult<SchemaTypes[K]>
}

/** More issues than this about one value help nobody. */
export const MAX_ISSUES = 100

const SCHEMA_DIR = new URL('../../schemas/', import.meta.url)
const SUFFIX = '.schema.json'
/** Annotations of our own: they say something to readers and generators, nothing to the check. */
const ANNOTATIONS = ['x-unit', 'x-secret', 'x-expects', 'x-rule', 'x-packaged', 'x-empty']

const CODES: Record<string, string> = {
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
}

/** Errors that only say "one of the branches failed", beside the branches' own. */
const SUMMARIES = new Set(['anyOf', 'oneOf', 'if'])

function readSchema(fileName: string): Record<string, unknown> {
  const schema = JSON.parse(readFileSync(new URL(fileName, SCHEMA_DIR), 'utf8')) as Record<string, unknown>
  return { ...schema, $id: fileName }
}

/** File names of the other schemas that this one refers to. */
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

/** Adds a schema and everything that it refers to, each once. */
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

function toIssue(error: ErrorObject, value: unknown): Issue {
  const { missingProperty, additionalProperty, tag } = error.params as Record<string, unknown>
  const last = missingProperty ?? additionalProperty ?? (error.keyword === 'discriminator' ? tag : undefined)
  return {
    code: CODES[error.keyword] ?? 'invalid_field',
    severity: 'error',
    path: issuePath(value, error.instancePath, typeof last === 'string' ? last : undefined),
    message: messageOf(error),
  }
}

function toIssues(errors: readonly ErrorObject[], value: unknown): Issue[] {
  const details = errors.filter((error) => !SUMMARIES.has(error.keyword))
  const chosen = details.length > 0 ? details : errors
  const seen = new Set<string>()
  const issues: Issue[] = []
  for (const error of chosen) {
    const issue = toIssue(error, value)
    const key = `${issue.path} ${issue.message}`
    if (seen.has(key)) continue
    seen.add(key)
    issues.push(issue)
    if (issues.length === MAX_ISSUES) break
  }
  return issues
}

/**
 * A registry that reads and compiles a schema when it is first asked for (about 10 ms), never at import.
 * A schema that is missing or not valid throws: that is a fault of this program, not of the value.
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
  })
  ajvFormats.default(ajv)
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
      return { ok: false, issues: toIssues(validate.errors ?? [], value) }
    },
  }
}
