import { ExactNumber } from '../../api/exact-json.ts'

/** The kinds of JSON values, which are drawn differently. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'word'

export function kindOf(value: unknown): JsonKind {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'number' || value instanceof ExactNumber) return 'number'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'object' && value !== null ? 'object' : 'word'
}

/** Keys and values of an object or a list; nothing for others. */
export function entriesOf(value: unknown): [string, unknown][] {
  const kind = kindOf(value)
  return kind === 'object' || kind === 'array' ? Object.entries(value as object) : []
}

/** The first keys and values of an object or a list, and the number of all of them. */
export function firstEntries(value: unknown, most: number): { count: number; entries: [string, unknown][] } {
  if (Array.isArray(value)) {
    const items = value.slice(0, most)
    return { count: value.length, entries: items.map((one, place) => [String(place), one]) }
  }
  if (kindOf(value) !== 'object') return { count: 0, entries: [] }
  const members = value as Readonly<Record<string, unknown>>
  const keys = Object.keys(members)
  return { count: keys.length, entries: keys.slice(0, most).map((key) => [key, members[key]]) }
}

/** `a.b[0]["odd key"]`: the path of a key below a path. */
export function childPath(path: string, key: string, isItem: boolean): string {
  if (isItem) return `${path}[${key}]`
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** JSON of a value, with every number as it was sent. */
export function exactText(value: unknown, indent = 2): string {
  return write(value, indent, '')
}

function write(value: unknown, indent: number, margin: string): string {
  if (value instanceof ExactNumber) return value.source
  const entries = entriesOf(value)
  const isList = Array.isArray(value)
  if (kindOf(value) !== 'object' && !isList) return JSON.stringify(value) ?? 'null'
  const [open, close] = isList ? '[]' : '{}'
  if (entries.length === 0) return `${open}${close}`
  const inner = margin + ' '.repeat(indent)
  const [before, after] = indent === 0 ? ['', ''] : [`\n${inner}`, `\n${margin}`]
  const parts = entries.map(([key, one]) => {
    const text = write(one, indent, inner)
    return isList ? text : `${JSON.stringify(key)}:${indent === 0 ? '' : ' '}${text}`
  })
  return `${open}${before}${parts.join(`,${before}`)}${after}${close}`
}
