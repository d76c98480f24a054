import { readdir } from 'node:fs/promises'
import { compile } from 'json-schema-to-typescript'

const BANNER = '/* Generated from schemas/*.schema.json by `npm run generate`. Do not edit. */'
const SUFFIX = '.schema.json'

/** Names of all schemas, sorted: `message` for `schemas/message.schema.json`. */
export async function listSchemas(schemaDir: URL): Promise<string[]> {
  const files = await readdir(schemaDir)
  return files
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort()
}

/**
 * TypeScript for all schemas in the folder: each named type, and `SchemaTypes`, which maps the name of a schema to its
 * type. All schemas are compiled as parts of one, so that a type that several schemas use is written once.
 */
export async function generateTypes(schemaDir: URL): Promise<string> {
  const names = await listSchemas(schemaDir)
  const umbrella = {
    title: 'SchemaTypes',
    description: 'The type of a value that passes the check of the schema with that name.',
    type: 'object' as const,
    additionalProperties: false,
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { $ref: `${name}${SUFFIX}` }])),
  }
  return await compile(umbrella, 'SchemaTypes', {
    bannerComment: BANNER,
    cwd: schemaDir.pathname,
    additionalProperties: false,
    strictIndexSignatures: true,
    ignoreMinAndMaxItems: true,
    style: { semi: false, singleQuote: true, printWidth: 110, trailingComma: 'all', bracketSpacing: true },
  })
}
