import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'

/** One response of the server. */
export interface Answer {
  method: string
  /** The path as requested, with or without prefix and query. */
  url: string
  status: number
  answer_type: string
  answer: Uint8Array
}

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>
}

/** Compares responses with the OpenAPI document that the server serves. */
export interface AnswerCheck {
  /** Differences from the document; empty when there are none. */
  faults(answer: Answer): string[]
}

const PREFIXES = ['/api/v1', '/api', '']

/**
 * The paths of the document as regular expressions. Paths without parameters come first, because they take precedence.
 */
function pathTable(document: OpenApiDocument): [pattern: RegExp, path: string][] {
  const parameters = (path: string): number => path.split('{').length
  return Object.keys(document.paths)
    .sort((a, b) => parameters(a) - parameters(b))
    .map((path) => [new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`), path])
}

function bareType(type: string): string {
  return type.split(';')[0] ?? ''
}

/** JSON pointer into the document, encoded for a URI fragment. */
function pointer(...keys: string[]): string {
  return keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
}

/** The check of each document by its text. All servers of a test run have the same documents. */
const checks = new Map<string, AnswerCheck>()

/** Returns the check of responses with an OpenAPI document, whose schemas are compiled once for all test files. */
export function answersAsDocumented(document: OpenApiDocument): AnswerCheck {
  const text = JSON.stringify(document)
  const check = checks.get(text) ?? makeCheck(document)
  checks.set(text, check)
  return check
}

function makeCheck(document: OpenApiDocument): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajvFormats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const table = pathTable(document)
  const compiled = new Map<string, ValidateFunction>()

  const validatorOf = (...keys: string[]): ValidateFunction => {
    const ref = `openapi#/${pointer(...keys)}`
    const known = compiled.get(ref) ?? ajv.compile({ $ref: ref })
    compiled.set(ref, known)
    return known
  }

  return {
    faults({ method, url, status, answer_type, answer }) {
      const [bare = ''] = url.split('?')
      const path = bare.replace(/^\/api(\/v1)?(?=\/)/, '')
      const found = table.find(
        ([pattern, known]) =>
          PREFIXES.some((prefix) => pattern.test(prefix + path)) &&
          method.toLowerCase() in document.paths[known]!,
      )
      if (found === undefined) return [`${method} ${path} is not documented`]
      const operation = method.toLowerCase()
      const where = `${method} ${found[1]} ${status}`
      const response = document.paths[found[1]]?.[operation]?.responses[String(status)]
      if (response === undefined) return [`${where} is not documented`]
      const { content } = response
      if (content === undefined)
        return answer_type === '' && answer.length === 0 ? [] : [`${where}: a body is not documented`]
      const type = bareType(answer_type)
      if (type !== 'application/json')
        return Object.keys(content).some((known) =>
          [type, 'application/octet-stream'].includes(bareType(known)),
        )
          ? []
          : [`${where}: type ${type}`]
      const validate = validatorOf(
        'paths',
        found[1],
        operation,
        'responses',
        String(status),
        'content',
        type,
        'schema',
      )
      if (validate(JSON.parse(Buffer.from(answer).toString('utf8')))) return []
      return (validate.errors ?? []).map((error) => `${where}: ${error.instancePath} ${error.message}`)
    },
  }
}
