import { isReservedKey } from '../../schema/config-keys.ts'
import { isObject, type JsonObject, type JsonValue, jsonOf } from '../../schema/json.ts'

/** Request headers that graphs may read, as patterns with `*`. */
export interface HeaderRule {
  includes: string[]
  excludes: string[]
}

type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/** The headers of a request that graphs may read, by lower-case name, and its trace (RUN-37). */
export function pickConfigurableHeaders(rule: HeaderRule, headers: RequestHeaders): JsonObject {
  const picked = traceOf(headers)
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (typeof value !== 'string' || isReservedKey(lower)) continue
    if (!matchesAny(rule.includes, lower) || matchesAny(rule.excludes, lower)) continue
    picked[lower] = value
  }
  return picked
}

/**
 * `langsmith-trace` of a request that is part of a trace of LangSmith, and the entries of its `baggage`, which name the
 * project, tags and metadata. A rule for headers does not apply to them, as on LangGraph's server.
 */
function traceOf(headers: RequestHeaders): JsonObject {
  const trace = headers['langsmith-trace']
  if (typeof trace !== 'string') return {}
  const baggage = typeof headers['baggage'] === 'string' ? headers['baggage'].split(',') : []
  const entries = baggage.flatMap((entry) => {
    const [, name = '', encoded = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(entry) ?? []
    const read = Object.hasOwn(BAGGAGE, name) ? BAGGAGE[name] : undefined
    const value = read && decoded(encoded)
    const made = value === undefined ? undefined : read?.(value)
    return made === undefined ? [] : [[name, made] as const]
  })
  return { 'langsmith-trace': trace, ...Object.fromEntries(entries) }
}

/** The entries of `baggage` that graphs get, and the form of each; undefined for a text that has another one. */
const BAGGAGE: Readonly<Record<string, (text: string) => JsonValue | undefined>> = {
  'langsmith-project': (text) => text,
  'langsmith-tags': (text) => text.split(','),
  'langsmith-metadata': (text) => {
    const metadata = jsonOf(text)
    return isObject(metadata) ? metadata : undefined
  },
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.toLowerCase().split('*')
    const first = parts[0] ?? ''
    const last = parts.at(-1) ?? ''
    if (parts.length === 1) return name === first
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
      return false
    let at = first.length
    return parts.slice(1, -1).every((part) => {
      const found = name.indexOf(part, at)
      at = found + part.length
      return found >= 0 && at <= name.length - last.length
    })
  })
}
