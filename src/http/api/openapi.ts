import { readFileSync } from 'node:fs'
import { ERRORS, type ErrorCode } from '../../base/errors.ts'
import type { JsonSchema, Parameters } from './parameters.ts'
import type { RouteAccess } from './access.ts'
import type { RouteHead } from './route.ts'

const SCHEMA_DIR = new URL('../../../schemas/', import.meta.url)
const SUFFIX = '.schema.json'
const INGEST_BODY = {
  'multipart/form-data': { schema: { type: 'object' } },
  'application/json': { schema: {} },
} as const

/** Converts `x.schema.json#/a`, and `#/a` inside schema `own`, to a reference into this document. */
function toReference(ref: string, own: string, names: Set<string>): string {
  const [file = '', pointer = ''] = ref.replace(/^\.\//, '').split('#')
  const name = file === '' ? own : file.slice(0, -SUFFIX.length)
  names.add(name)
  return `#/components/schemas/${name}${pointer}`
}

function rewritten(node: unknown, own: string, names: Set<string>): unknown {
  if (Array.isArray(node)) return node.map((item) => rewritten(item, own, names))
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([key, value]): [string, unknown] =>
    key === '$ref' && typeof value === 'string'
      ? [key, toReference(value, own, names)]
      : [key, rewritten(value, own, names)],
  )
  return Object.fromEntries(entries)
}

/** The named schemas and all schemas that they refer to. */
function foldSchemas(wanted: ReadonlySet<string>): Record<string, unknown> {
  const names = new Set(wanted)
  const folded: Record<string, unknown> = {}
  // Iterating over a Set also visits members that are added meanwhile.
  for (const name of names) {
    const text = readFileSync(new URL(`${name}${SUFFIX}`, SCHEMA_DIR), 'utf8')
    const { $schema: _dialect, $id: _id, ...schema } = JSON.parse(text) as Record<string, unknown>
    folded[name] = rewritten(schema, name, names)
  }
  return Object.fromEntries(Object.entries(folded).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function describeParameters(parameters: Parameters, place: 'path' | 'query'): object[] {
  return Object.entries(parameters).map(([name, { description, required, schema }]) => ({
    name,
    in: place,
    description,
    required: place === 'path' || required,
    schema,
  }))
}

function describeHeaders({ headers = {} }: RouteHead): object[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    required: false,
    schema: { type: 'string' },
  }))
}

function describeBody(route: RouteHead, use: (name: string) => JsonSchema): object | undefined {
  if (route.body === undefined) return undefined
  if (route.wire_types !== undefined) return { required: true, content: anyOfTypes(route.wire_types) }
  if (route.body === 'raw') return { required: true, content: INGEST_BODY }
  return { required: true, content: { 'application/json': { schema: use(route.body) } } }
}

function anyOfTypes(types: readonly string[]): Record<string, { schema: object }> {
  return Object.fromEntries(types.map((type) => [type, { schema: {} }]))
}

function describeReply(route: RouteHead, use: (name: string) => JsonSchema): object {
  if (route.status === 204) return { description: 'Done' }
  if (route.wire_types !== undefined) return { description: 'Success', content: anyOfTypes(route.wire_types) }
  const name = route.reply === 'bytes' ? route.reply_schema : route.reply
  const schema = name === undefined ? {} : use(name)
  const others = anyOfTypes(route.other_types ?? [])
  return { description: 'Success', content: { [route.reply_type]: { schema }, ...others } }
}

function describeOtherReplies(
  { other_replies = {}, revalidates, wire_types = [] }: RouteHead,
  use: (name: string) => JsonSchema,
): Record<string, object> {
  const entries = Object.entries(other_replies).map(([status, name]) => [
    status,
    name === null
      ? describeBare(Number(status), wire_types)
      : {
          description: Number(status) < 400 ? 'Success' : 'Failure',
          content: { 'application/json': { schema: use(name) } },
        },
  ])
  const unchanged = revalidates
    ? [['304', { description: 'Not changed since the answer of If-None-Match' }]]
    : []
  return Object.fromEntries([...entries, ...unchanged]) as Record<string, object>
}

/** A response without a schema of ours: without a body, but for the failures of a foreign protocol. */
function describeBare(status: number, wire_types: readonly string[]): object {
  const content = status < 400 || wire_types.length === 0 ? {} : { content: anyOfTypes(wire_types) }
  return { description: status < 400 ? 'Done' : 'Failure', ...content }
}

/** Error codes by status; several codes may have the same status. */
function describeErrors(
  route: RouteHead,
  use: (name: string) => JsonSchema,
  { problem, body_errors }: ApiHead,
): Record<string, object> {
  const hasInput = route.body !== undefined || Object.keys({ ...route.params, ...route.query }).length > 0
  const codes: ErrorCode[] = [...route.errors]
  if (hasInput) codes.push('invalid_request')
  if (route.body !== undefined && route.body !== 'raw') codes.push(...body_errors)
  if (route.needs !== 'open')
    codes.push('unauthorized', 'forbidden', 'permission_required', 'workspace_required')
  const byStatus = Object.groupBy([...new Set(codes)].sort(), (code) => String(ERRORS[code].status))
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, named = []]) => [
      status,
      {
        description: named.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join(' '),
        content:
          route.wire_types === undefined
            ? { 'application/json': { schema: use(problem) } }
            : anyOfTypes(route.wire_types),
      },
    ]),
  )
}

/** `x-permission` is what docs/api/permissions.md lists. */
function describeAccess({ needs, whole_organization }: RouteAccess): object {
  if (needs === 'open') return { security: [] }
  return { 'x-permission': needs, ...(whole_organization && { 'x-whole-organization': true }) }
}

function describeOperation(route: RouteHead, use: (name: string) => JsonSchema, api: ApiHead): object {
  const requestBody = describeBody(route, use)
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replace(/[^a-zA-Z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase())}`,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...describeAccess(route),
    parameters: [
      ...describeParameters(route.params, 'path'),
      ...describeParameters(route.query, 'query'),
      ...describeHeaders(route),
    ],
    ...(requestBody !== undefined && { requestBody }),
    responses: {
      [String(route.status)]: describeReply(route, use),
      ...describeOtherReplies(route, use),
      ...describeErrors(route, use, api),
    },
  }
}

/**
 * Paths without prefix, because clients determine them: OTLP exporters add `/v1/traces` to their address, and browsers
 * start at the root.
 */
const BARE = /^\/((otel\/)?v1\/.*)?$/

/** The path of a route in the document; a route with several paths is documented under one of them. */
export function documentedPath(path: string): string {
  if (BARE.test(path)) return path
  return path.startsWith('/v2/') ? `/api${path}` : `/api/v1${path}`
}

/** The parts of an API's document that describe the API as a whole. */
export interface ApiHead {
  title: string
  description: string
  /** Base URL of the API, relative to the document. */
  server: string
  /** The path of a route in the document. */
  pathOf(path: string): string
  /** Schema of every error response. */
  problem: string
  /** Errors of a JSON body, besides faults against its schema. */
  body_errors: readonly ErrorCode[]
}

export const PLATFORM_API: ApiHead = {
  title: 'Weir platform API',
  description:
    'Every path also answers without `/api/v1`, with `/api` in its place, and those shown without it with it; `/api/v2/…` answers as `/v2/…` too.',
  server: '/',
  pathOf: documentedPath,
  problem: 'problem',
  body_errors: ['invalid_json', 'body_too_large', 'unsupported_media_type', 'unsupported_encoding'],
}

/** The routes and the schemas that they name as an OpenAPI 3.1 document. */
export function openApiDocument(
  routes: readonly RouteHead[],
  version: string,
  api = PLATFORM_API,
): Record<string, unknown> {
  const used = new Set<string>()
  const use = (name: string): JsonSchema => {
    used.add(name)
    return { $ref: `#/components/schemas/${name}` }
  }
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = api.pathOf(route.path)
    const operations = paths[path] ?? {}
    operations[route.method.toLowerCase()] = describeOperation(route, use, api)
    paths[path] = operations
  }
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version,
      description: api.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: api.server }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        Bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: foldSchemas(used),
    },
  }
}
