import { compile } from 'json-schema-to-typescript'
import { ERRORS } from '../../src/base/errors.ts'

const BANNER = '/* Generated from the routes of src/http/platform by `npm run generate`. Do not edit. */'

/** The parts of an OpenAPI document that are used here. */
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema: object }[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}

type Content = Record<string, { schema?: object }>

/** The schema of the JSON in a body or an answer; undefined for other content types. */
function jsonSchema(content: Content | undefined): object | undefined {
  return content?.['application/json']?.schema
}

function objectOf(properties: Record<string, object>, required: readonly string[]): object {
  return { type: 'object', additionalProperties: false, properties, required: [...required] }
}

/** The schema of an operation from the caller's side: `query`, and `body` and `reply` if the operation has them. */
function operationSchema({ parameters = [], requestBody, responses }: Operation): object {
  const asked = parameters.filter((parameter) => parameter.in === 'query')
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const body = jsonSchema(requestBody?.content)
  const reply = jsonSchema(success?.content)
  const required = asked.filter((parameter) => parameter.required === true).map(({ name }) => name)
  const query = objectOf(Object.fromEntries(asked.map(({ name, schema }) => [name, schema])), required)
  const parts = { query, ...(body !== undefined && { body }), ...(reply !== undefined && { reply }) }
  return objectOf(parts, Object.keys(parts))
}

/**
 * TypeScript for the operations of an OpenAPI document: `Operations` maps `GET /api/v1/sessions` to its query, body and
 * reply. Operations whose answer is not JSON have no `reply`.
 */
export async function generateUiTypes(document: object): Promise<string> {
  const { paths, components } = document as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, object] => [
      `${method.toUpperCase()} ${path}`,
      operationSchema(operation),
    ]),
  )
  const umbrella = {
    title: 'Operations',
    ...objectOf(
      Object.fromEntries(operations),
      operations.map(([name]) => name),
    ),
    components,
  }
  return await compile(structuredClone(umbrella), 'Operations', {
    bannerComment: BANNER,
    additionalProperties: true,
    declareExternallyReferenced: true,
    unreachableDefinitions: false,
    strictIndexSignatures: true,
    ignoreMinAndMaxItems: true,
    style: { semi: false, singleQuote: true, printWidth: 110, trailingComma: 'all', bracketSpacing: true },
  })
}

/** The meaning of every error code, for pages that show error codes. */
export function generateErrorTexts(): string {
  const texts = Object.fromEntries(Object.entries(ERRORS).map(([code, { message }]) => [code, message]))
  const banner = '/* Generated from src/base/errors.ts by `npm run generate`. Do not edit. */'
  return `${banner}\n\n/** The meaning of each error code. */\nexport const ERROR_TEXTS: Readonly<Record<string, string>> = ${JSON.stringify(texts, null, 2)}\n`
}
