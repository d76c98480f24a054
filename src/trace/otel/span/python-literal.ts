import type { JsonValue } from '../../../schema/json.ts'
import { parseJson } from '../../json/json-text.ts'

/**
 * Parses JSON, or Python's repr of dicts, lists, strings and numbers (rule N10: `{'audio': 0, 'cache_read': 5}`).
 * Undefined for other text, including single words and numbers. Linear.
 */
export function parseLiteral(value: string): JsonValue | undefined {
  const first = /^\s{0,100}([[{"])/.exec(value)?.[1]
  if (first === undefined) return undefined
  const parsed = parseJson(value)
  if (parsed !== undefined || first === '"') return parsed?.value
  const json = toJson(value)
  return json === undefined ? undefined : parseJson(json)?.value
}

/** Maximum length of a text; longer texts are not counts or settings. */
const MAX_PYTHON = 262_144
const WORDS: Readonly<Record<string, string>> = {
  None: 'null',
  True: 'true',
  False: 'false',
  nan: 'null',
  inf: 'null',
}
const TOKEN = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[A-Za-z_]+|-?\d[\d.eE+-]*|[[\]{}(),:]|\s+|[^]/gy

/** Converts Python's literal to JSON text; undefined if it contains anything else, such as a call or a name. */
function toJson(value: string): string | undefined {
  if (value.length > MAX_PYTHON) return undefined
  const out: string[] = []
  for (const [token] of value.matchAll(TOKEN)) {
    const first = token[0]!
    if (/\s/.test(first)) continue
    const json = tokenToJson(token, first)
    if (json === undefined) return undefined
    if ((json === ']' || json === '}') && out.at(-1) === ',') out.pop()
    out.push(json)
  }
  return out.join('')
}

function tokenToJson(token: string, first: string): string | undefined {
  if (first === "'" || first === '"') return token.length < 2 ? undefined : jsonString(token.slice(1, -1))
  if (first === '(') return '['
  if (first === ')') return ']'
  if (/[A-Za-z_]/.test(first)) return Object.hasOwn(WORDS, token) ? WORDS[token] : undefined
  return /[-\d[\]{},:]/.test(first) ? token : undefined
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

function jsonString(inner: string): string {
  const text = inner.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|[^])/g, (whole, escape: string) =>
    escape.length > 1
      ? String.fromCharCode(Number.parseInt(escape.slice(1), 16))
      : (ESCAPES[escape] ?? whole),
  )
  return JSON.stringify(text)
}
