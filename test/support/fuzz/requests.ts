import { gzipSync } from 'node:zlib'
import { anyValue, type Draw, hostileText, type Schema, valueOf } from './values.ts'
import { foreignBody, oauthForm } from './foreign-bodies.ts'
import type { KnownRecord, KnownRecords } from '../servers/known-records.ts'
import { between, chance, pick, type Random } from '../seeded-random.ts'
import { BOUNDARY, multipartBody } from '../traces/wire-body.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

interface Documented {
  method: string
  path: string
  operation: Operation
}

/** The part of an OpenAPI document that requests are generated from. */
export interface FuzzedDocument {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

export interface FuzzedRequest {
  method: string
  /** The path, encoded, with its query. */
  path: string
  headers: Record<string, string>
  body: Uint8Array | undefined
}

/** Generates requests for every operation of one listener. */
export interface RequestSource {
  /** `METHOD path` of each operation, as documented. */
  operations: readonly string[]
  /**
   * False if the only part of a request that can be wrong is its key, because the operation has no parameters and no
   * body.
   */
  canFail(index: number): boolean
  /** A random request for the operation with this index. */
  draw(index: number): FuzzedRequest
}

/** Paths whose POST replaces or deletes what its path or body names. */
const DELETES = /\/latest$|\/delete\b/
const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])
/**
 * Probabilities of faults. `sound`: no value of the request is wrong; otherwise each value is wrong with `broken`, and
 * headers, body and path with theirs. `key`: the key is wrong, in any request. `session`: a cookie takes the place of
 * the key.
 */
const SHARE = { sound: 0.5, broken: 0.08, key: 0.04, session: 0.15, header: 0.1, body: 0.1, path: 0.05 }
const MAX_TEXT = 1_000
const FORM = 'application/x-www-form-urlencoded'
const SCIM = /\/scim\//
const ODD_HEADERS: readonly [string, readonly string[]][] = [
  ['content-type', ['text/plain', 'application/json; charset=utf-16', 'multipart/form-data', 'x', '']],
  ['content-encoding', ['gzip', 'zstd', 'br', 'deflate', 'gzip, gzip', 'x']],
  ['x-tenant-id', ['', 'x', '00000000-0000-0000-0000-000000000000', "'"]],
  ['accept', ['text/event-stream', 'text/html', '*/*;q=x', '']],
  ['last-event-id', ['-', '-1', '0', '1', '99999999999999999999', '1-1-1', 'x']],
  ['prefer', ['return=minimal', 'return=x', 'respond-async']],
  ['if-none-match', ['*', '"x"']],
  ['range', ['bytes=0-0', 'bytes=-9999999999']],
  ['origin', ['http://evil.example', 'null']],
  ['user-agent', ['langsmith-py/0.0.0', 'langsmith-js/99.0.0', '']],
  ['x-http-method-override', ['DELETE']],
]

export interface SourceParts {
  random: Random
  /** Records of earlier responses. */
  records: Pick<KnownRecords, 'find' | 'value'>
  /** API key of nearly every request. */
  key: string
  /** Ids that no request may change or delete, so that the key stays valid. */
  kept: ReadonlySet<string>
  /** Cookies that take the place of the key in some requests. */
  sessions: readonly string[]
  /** The token that SCIM accepts, in place of a key. */
  scimToken?: string | undefined
}

/** Requests for every operation of the document. */
export function requestSource(
  document: FuzzedDocument,
  { random, records, key, kept, sessions, scimToken }: SourceParts,
): RequestSource {
  const schemas = document.components.schemas
  const resolve = (ref: string): Schema => {
    const steps = ref.replace('#/components/schemas/', '').split('/')
    return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], schemas) as Schema
  }
  const table = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  return {
    operations: table.map(({ method, path }) => `${method} ${path}`),
    canFail(index) {
      const { parameters = [], requestBody } = table[index]!.operation
      return parameters.length > 0 || requestBody !== undefined
    },
    draw(index) {
      const { method, path, operation } = table[index]!
      const broken = chance(random, SHARE.sound) ? 0 : SHARE.broken
      const isHarmless = method === 'GET' || (method === 'POST' && !DELETES.test(path))
      const known = (name: string): string | undefined => {
        const value = records.value(random, name)
        return isHarmless || !kept.has(value ?? '') ? value : undefined
      }
      const drawing = { random, known, broken, resolve }
      const parameters = operation.parameters ?? []
      const body = bodyOf({ method, path, operation }, drawing)
      const headers: Record<string, string> = { 'x-api-key': key, ...body?.headers }
      if (scimToken !== undefined && SCIM.test(path) && !chance(random, SHARE.key)) {
        delete headers['x-api-key']
        headers['authorization'] = `Bearer ${scimToken}`
      } else if (sessions.length > 0 && chance(random, SHARE.session)) {
        delete headers['x-api-key']
        headers['cookie'] = pick(random, sessions)
        headers['sec-fetch-site'] = chance(random, 0.9)
          ? 'same-origin'
          : pick(random, ['same-site', 'none', 'x'])
      } else if (chance(random, SHARE.key)) headers['x-api-key'] = pick(random, ['', 'x', key.slice(1)])
      if (broken > 0 && chance(random, SHARE.header)) {
        const [name, values] = pick(random, ODD_HEADERS)
        headers[name] = pick(random, values)
      }
      const found = records.find(random, path, namesIn(path)) ?? {}
      const isKept = !isHarmless && namesIn(path).some((name) => kept.has(found[name] ?? ''))
      const target = pathOf(path, parameters, drawing, isKept ? {} : found) + queryOf(parameters, drawing)
      return { method, path: target, headers, body: body?.bytes }
    },
  }
}

const PLACEHOLDER = /\{(\w+)\}/g

function namesIn(path: string): string[] {
  return [...path.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
}

function pathOf(path: string, parameters: readonly Parameter[], draw: Draw, found: KnownRecord): string {
  const { random, broken } = draw
  return path.replaceAll(PLACEHOLDER, (_, name: string) => {
    if (broken > 0 && chance(random, SHARE.path)) return encoded(hostileText(random)) || 'x'
    if (found[name] !== undefined && chance(random, 0.9)) return encoded(found[name])
    const schema =
      parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.schema ?? {}
    return encoded(text(valueOf(schema, { ...draw, broken: 0 }))) || 'x'
  })
}

function queryOf(parameters: readonly Parameter[], draw: Draw): string {
  const pairs: string[] = []
  for (const { name, required, schema } of parameters.filter((parameter) => parameter.in === 'query')) {
    if (!chance(draw.random, required === true ? 0.97 : 0.4)) continue
    const known = chance(draw.random, 0.8)
      ? (draw.known(name) ?? draw.known(name.replace(/s$/, '')))
      : undefined
    const value = known ?? valueOf(schema, draw)
    for (const one of Array.isArray(value) ? value : [value])
      pairs.push(`${encoded(name)}=${encoded(text(one))}`)
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Replaces lone surrogates, which URLs cannot encode, and shortens heads that Node would refuse (16 KiB). */
function encoded(value: string): string {
  return encodeURIComponent(value.slice(0, MAX_TEXT).toWellFormed())
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

interface DrawnBody {
  bytes: Uint8Array
  headers: Record<string, string>
}

function bodyOf({ method, path, operation }: Documented, draw: Draw): DrawnBody | undefined {
  const { random, broken } = draw
  const { requestBody } = operation
  if (requestBody === undefined) return undefined
  const type = pick(random, Object.keys(requestBody.content))
  const sound =
    type === 'multipart/form-data'
      ? multipart(draw)
      : type === FORM
        ? { bytes: Buffer.from(oauthForm(draw)), headers: { 'content-type': FORM } }
        : jsonOf(type, requestBody.content[type]?.schema ?? {}, draw, foreignBody(path, method, draw))
  const drawn =
    broken > 0 && chance(random, SHARE.body) ? { ...sound, bytes: damaged(sound.bytes, random) } : sound
  if (!chance(random, 0.05)) return drawn
  return { bytes: gzipSync(drawn.bytes), headers: { ...drawn.headers, 'content-encoding': 'gzip' } }
}

/** `foreign` is the body of a protocol that the document does not describe. */
function jsonOf(type: string, schema: Schema, draw: Draw, foreign: unknown): DrawnBody {
  const value = foreign ?? (Object.keys(schema).length === 0 ? traceRun(draw) : valueOf(schema, draw))
  return { bytes: Buffer.from(JSON.stringify(value) ?? ''), headers: { 'content-type': type } }
}

/** A body for the ingest routes, which have no body schema in the document. */
function traceRun({ random, known, broken }: Draw): object {
  const id = (chance(random, 0.5) ? known('id') : undefined) ?? crypto.randomUUID()
  const start_time = new Date(Date.now() - between(random, 0, 86_400_000)).toISOString()
  const run: Record<string, unknown> = {
    id,
    name: 'fuzzed',
    run_type: pick(random, ['llm', 'chain', 'tool']),
    start_time,
  }
  for (const field of [
    'inputs',
    'outputs',
    'extra',
    'events',
    'error',
    'tags',
    'end_time',
    'dotted_order',
    'trace_id',
  ]) {
    if (chance(random, 0.2 + broken)) run[field] = anyValue(random)
  }
  const spans = [
    {
      traceId: id.replaceAll('-', ''),
      spanId: 'eee19b7ec3c1b174',
      name: 'span',
      attributes: anyValue(random),
    },
  ]
  return pick(random, [run, { post: [run], patch: [run] }, { resourceSpans: [{ scopeSpans: [{ spans }] }] }])
}

function multipart(draw: Draw): DrawnBody {
  const { random } = draw
  const parts = Array.from({ length: between(random, 0, 4) }, () => {
    const run = traceRun(draw) as { id?: string }
    const field = pick(random, ['', '', '.inputs', '.outputs', '.events', '.extra', '.x'])
    const kind = pick(random, ['post', 'patch', 'feedback', 'attachment', 'x'])
    return {
      name: `${kind}.${run.id ?? 'x'}${field}`,
      data: JSON.stringify(field === '' ? run : anyValue(random)),
    }
  })
  return {
    bytes: multipartBody(parts),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  }
}

/** The bytes, truncated, partly changed, or replaced by others. */
function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  const kind = between(random, 0, 2)
  if (kind === 0) return bytes.subarray(0, between(random, 0, bytes.length))
  if (kind === 1) return Buffer.from(hostileText(random))
  const copy = Uint8Array.from(bytes)
  for (let i = 0; i < 8 && copy.length > 0; i++)
    copy[between(random, 0, copy.length - 1)] = between(random, 0, 255)
  return copy
}
