import { AppError } from '../../../base/errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import { compilePricePattern } from '../../../trace/price/pattern.ts'
import { isLoopbackName } from './browser-gates.ts'
import type { Exchange } from '../exchange.ts'
import type { Headers } from '../../api/route.ts'

/** A pattern that a whole origin must match. */
export interface OriginPattern {
  test(origin: string): boolean
  /** False for syntax, such as look-around, with which a comparison may take very long. */
  isBounded: boolean
}

/** The pages of other origins that may call the server; for a deployment, `http.cors` of langgraph.json. */
export interface CorsRules {
  /** Allowed origins; `*` allows all. */
  allow_origins: readonly string[]
  /** Null if there is none. */
  allow_origin_regex: OriginPattern | null
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
  'mcp-session-id',
  'retry-after',
  'www-authenticate',
  'x-pagination-total',
  'x-pagination-next',
  'x-request-id',
]
const MAX_AGE_S = 600
/** Longer origins match no pattern; bounded patterns compare only so many characters. */
const MAX_ORIGIN = 256

/** `*` for methods and headers: all, so that they are as without a rule. Browsers read a literal `*` as less than that. */
function unlessAll(names: string[] | undefined): string[] | undefined {
  return names?.includes('*') === true ? undefined : names
}

/** @throws AppError config_invalid */
function readPattern(pattern: JsonValue | undefined): OriginPattern | null {
  if (typeof pattern !== 'string') return null
  const [, flag = '', source = ''] = /^(\(\?i\))?(.*)$/s.exec(pattern) ?? []
  const bounded = compilePricePattern(`${flag}^(?:${source})$`)
  const isBounded = !('error' in bounded)
  const whole = isBounded ? bounded : wholeRegex(pattern)
  return { isBounded, test: (origin) => origin.length <= MAX_ORIGIN && whole.test(origin) }
}

/** @throws AppError config_invalid for a pattern with which deployed code could hold up the server (D-64) */
export function assertBoundedCors(http: JsonObject): void {
  if (readCorsRules(http).allow_origin_regex?.isBounded !== false) return
  const message =
    'langgraph.json: http.cors.allow_origin_regex of a deployment may have no look-around and no back references, and at most 500 characters.'
  throw new AppError('config_invalid', { message })
}

function wholeRegex(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`)
  } catch (cause) {
    const message = `langgraph.json: http.cors.allow_origin_regex is no regular expression: ${JSON.stringify(pattern)}.`
    throw new AppError('config_invalid', { message, cause })
  }
}

/**
 * Reads the rules of langgraph.json. Without rules every page may call, but needs a key, and cookies are ignored.
 * @throws AppError config_invalid for a pattern that is no regular expression, and for names that no header may have,
 * which would end the server at the first request
 */
export function readCorsRules(http: JsonObject): CorsRules {
  const cors = isObject(http['cors']) ? http['cors'] : {}
  const pattern = cors['allow_origin_regex']
  const max_age = cors['max_age']
  return {
    allow_origins: texts(cors['allow_origins']) ?? (typeof pattern === 'string' ? [] : ['*']),
    allow_origin_regex: readPattern(pattern),
    allow_loopback: false,
    allow_methods: unlessAll(tokens(cors, 'allow_methods')),
    allow_headers: unlessAll(tokens(cors, 'allow_headers')),
    allow_credentials: cors['allow_credentials'] === true,
    expose_headers: [...new Set([...EXPOSED, ...(tokens(cors, 'expose_headers') ?? [])])],
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

const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,256}$/

/** Names that headers of responses have. @throws AppError config_invalid for one that no header may have */
function tokens(
  cors: JsonObject,
  name: 'allow_methods' | 'allow_headers' | 'expose_headers',
): string[] | undefined {
  const found = texts(cors[name])
  const wrong = found?.find((one) => !TOKEN.test(one))
  if (wrong === undefined) return found
  const message = `langgraph.json: http.cors.${name} has ${JSON.stringify(wrong)}, which is no name of HTTP.`
  throw new AppError('config_invalid', { message })
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
