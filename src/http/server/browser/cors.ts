import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import { isLoopbackName } from './browser-gates.ts'
import type { Exchange, Headers } from '../exchange.ts'

/** The pages of other origins that may call the server; for a deployment, `http.cors` of langgraph.json. */
export interface CorsRules {
  /** Allowed origins; `*` allows all. */
  allow_origins: readonly string[]
  /** Pattern that the whole origin must match; null if there is none. */
  allow_origin_regex: RegExp | null
  allow_loopback: boolean
  /** Allowed methods; undefined allows the methods of the route. */
  allow_methods: readonly string[] | undefined
  /** Allowed headers; undefined allows the requested headers. */
  allow_headers: readonly string[] | undefined
  allow_credentials: boolean
  expose_headers: readonly string[]
  max_age: number
}

/** Headers that SDKs in browsers read. */
const EXPOSED = [
  'content-location',
  'location',
  'retry-after',
  'www-authenticate',
  'x-pagination-total',
  'x-pagination-next',
  'x-request-id',
]
const MAX_AGE_S = 600

/** Reads the rules of langgraph.json. Without rules every page may call, but needs a key, and cookies are ignored. */
export function readCorsRules(http: JsonObject): CorsRules {
  const cors = isObject(http['cors']) ? http['cors'] : {}
  const pattern = cors['allow_origin_regex']
  const max_age = cors['max_age']
  return {
    allow_origins: texts(cors['allow_origins']) ?? (typeof pattern === 'string' ? [] : ['*']),
    allow_origin_regex: typeof pattern === 'string' ? new RegExp(`^(?:${pattern})$`) : null,
    allow_loopback: false,
    allow_methods: texts(cors['allow_methods']),
    allow_headers: texts(cors['allow_headers']),
    allow_credentials: cors['allow_credentials'] === true,
    expose_headers: [...new Set([...EXPOSED, ...(texts(cors['expose_headers']) ?? [])])],
    max_age: typeof max_age === 'number' ? max_age : MAX_AGE_S,
  }
}

/** The same rules, but a wildcard is replaced by the pages of loopback addresses, for requests that need no key. */
export function withoutWildcard(rules: CorsRules): CorsRules {
  if (!rules.allow_origins.includes('*')) return rules
  const allow_origins = rules.allow_origins.filter((origin) => origin !== '*')
  return { ...rules, allow_origins, allow_loopback: true }
}

export function withoutPages(rules: CorsRules): CorsRules {
  return { ...rules, allow_origins: [], allow_origin_regex: null, allow_loopback: false }
}

/** Whether the rules allow the origin by name or pattern; `*` does not count. */
export function isNamedOrigin(origin: string, rules: CorsRules): boolean {
  if (rules.allow_origins.includes(origin) || rules.allow_origin_regex?.test(origin) === true) return true
  return rules.allow_loopback && isLoopbackName(URL.parse(origin)?.hostname ?? '')
}

function texts(value: JsonValue | undefined): string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined
}

function isAllowed(origin: string, rules: CorsRules): boolean {
  return rules.allow_origins.includes('*') || isNamedOrigin(origin, rules)
}

/**
 * Header of the preflight request for a call from a page on the internet to a server on the user's machine or network.
 */
const ASKS_PRIVATE = 'access-control-request-private-network'

/**
 * Sets the headers that allow the page of a request's origin to read the response, if the rules allow it and the
 * request has an origin.
 */
export function allowOrigin({ req, res }: Exchange, rules: CorsRules): void {
  const { origin } = req.headers
  if (origin === undefined) return
  const all = rules.allow_origins.includes('*')
  if (!all || rules.allow_credentials) res.setHeader('vary', 'origin')
  if (!isAllowed(origin, rules)) return
  res.setHeader('access-control-allow-origin', all && !rules.allow_credentials ? '*' : origin)
  if (rules.allow_credentials) res.setHeader('access-control-allow-credentials', 'true')
  res.setHeader('access-control-expose-headers', rules.expose_headers.join(', '))
}

/** Headers of the response to a preflight request; `methods` are the path's. */
export function preflightHeaders({ req }: Exchange, rules: CorsRules, methods: string): Headers {
  const { origin } = req.headers
  if (origin === undefined) return { allow: methods }
  const isPrivate = req.headers[ASKS_PRIVATE] === 'true' && isAllowed(origin, rules)
  const asked = req.headers['access-control-request-headers']
  const headers = rules.allow_headers?.join(', ') ?? asked
  return {
    allow: methods,
    'access-control-allow-methods': rules.allow_methods?.join(', ') ?? methods,
    ...(headers !== undefined && { 'access-control-allow-headers': headers }),
    'access-control-max-age': rules.max_age,
    ...(isPrivate && { 'access-control-allow-private-network': 'true' }),
  }
}
