import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import { isLoopbackName } from '../browser-gates.ts'
import type { Exchange, Headers } from '../exchange.ts'

/** Which pages of other origins may call, as langgraph.json says under `http.cors`. */
export interface CorsRules {
  /** `*` = all. */
  allow_origins: readonly string[]
  /** The whole origin must match; null = none. */
  allow_origin_regex: RegExp | null
  /** Pages that this machine serves itself. */
  allow_loopback: boolean
  /** Undefined: those of the route. */
  allow_methods: readonly string[] | undefined
  /** Undefined: those that are asked for. */
  allow_headers: readonly string[] | undefined
  allow_credentials: boolean
  expose_headers: readonly string[]
  max_age: number
}

/** What SDKs in browsers read (run-api 1.1). */
const EXPOSED = ['content-location', 'location', 'x-pagination-total', 'x-pagination-next', 'x-request-id']
const MAX_AGE_S = 600

/** Rules from langgraph.json; without any, every page may call. A key is still needed, and cookies count for nothing. */
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

/** The same with pages of this machine in the place of all pages: for requests that need no key. */
export function withoutWildcard(rules: CorsRules): CorsRules {
  if (!rules.allow_origins.includes('*')) return rules
  const allow_origins = rules.allow_origins.filter((origin) => origin !== '*')
  return { ...rules, allow_origins, allow_loopback: true }
}

/** The same with no pages. */
export function withoutPages(rules: CorsRules): CorsRules {
  return { ...rules, allow_origins: [], allow_origin_regex: null, allow_loopback: false }
}

/** Whether the rules name the origin, be it by a pattern; `*` names none. */
export function isNamedOrigin(origin: string, rules: CorsRules): boolean {
  if (rules.allow_origins.includes(origin) || rules.allow_origin_regex?.test(origin) === true) return true
  return rules.allow_loopback && isLoopbackName(URL.parse(origin)?.hostname ?? '')
}

function texts(value: JsonValue | undefined): string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined
}

/** Lets the page of a request's origin read the answer, if it may; requests of no page get nothing. */
export function allowOrigin({ req, res }: Exchange, rules: CorsRules): void {
  const { origin } = req.headers
  if (origin === undefined) return
  const all = rules.allow_origins.includes('*')
  if (!all || rules.allow_credentials) res.setHeader('vary', 'origin')
  if (!all && !isNamedOrigin(origin, rules)) return
  res.setHeader('access-control-allow-origin', all && !rules.allow_credentials ? '*' : origin)
  if (rules.allow_credentials) res.setHeader('access-control-allow-credentials', 'true')
  res.setHeader('access-control-expose-headers', rules.expose_headers.join(', '))
}

/** What a preflight request is told; `methods` are the path's. */
export function preflightHeaders({ req }: Exchange, rules: CorsRules, methods: string): Headers {
  if (req.headers.origin === undefined) return { allow: methods }
  const asked = req.headers['access-control-request-headers']
  const headers = rules.allow_headers?.join(', ') ?? asked
  return {
    allow: methods,
    'access-control-allow-methods': rules.allow_methods?.join(', ') ?? methods,
    ...(headers !== undefined && { 'access-control-allow-headers': headers }),
    'access-control-max-age': rules.max_age,
  }
}
