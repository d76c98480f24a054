/** A part of a text: the index of its first character, and the index after its last character. */
export interface TextPlace {
  start: number
  end: number
}

/** A value of a JSON text with its place. */
interface Placed extends TextPlace {
  /** Children of objects and lists, by key or index. */
  parts?: Map<string, Placed>
  /** The decoded text of a string. */
  text?: string
}

const SPACE = /[\s]*/y
const WORD = /"(?:[^"\\]|\\.)*"|[^\s,\]}:]+/y
/** Values below this depth are not read. */
const MAX_DEPTH = 200

/**
 * The place of `path` (`outputs.messages[0].content`) of a run in a text of JSON or NDJSON. If the text lacks the value
 * at `path`, the place of the closest value above it. Undefined for other texts, and when the run is not found.
 */
export function textPlaceOf(text: string, run_id: string, path: string): TextPlace | undefined {
  const values = readAll(text)
  if (values === undefined) return undefined
  const run = findRun(values, run_id) ?? (values.length === 1 ? values[0] : undefined)
  if (run === undefined) return undefined
  let found = run
  for (const key of keysOf(path)) {
    const part = found.parts?.get(key)
    if (part === undefined) break
    found = part
  }
  return { start: found.start, end: found.end }
}

/** `a.b[0]["odd key"]` → a, b, 0, odd key. */
function keysOf(path: string): string[] {
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(([, quoted, index, name]) =>
    quoted === undefined ? (index ?? name ?? '') : decoded(`"${quoted}"`),
  )
}

function decoded(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted
  }
}

function findRun(values: Iterable<Placed>, run_id: string): Placed | undefined {
  for (const value of values) {
    if (value.parts?.get('id')?.text?.toLowerCase() === run_id) return value
    const inside = value.parts === undefined ? undefined : findRun(value.parts.values(), run_id)
    if (inside !== undefined) return inside
  }
  return undefined
}

/** All values of the text one after the other; undefined when it is not JSON. */
function readAll(text: string): Placed[] | undefined {
  const values: Placed[] = []
  let at = skipSpace(text, 0)
  while (at < text.length) {
    const value = read(text, at, 0)
    if (value === undefined) return undefined
    values.push(value)
    at = skipSpace(text, value.end)
  }
  return values
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.test(text)
  return SPACE.lastIndex
}

function read(text: string, start: number, depth: number): Placed | undefined {
  if (depth > MAX_DEPTH) return undefined
  const open = text[start]
  if (open === '{' || open === '[') return readParts(text, start, depth)
  WORD.lastIndex = start
  const [word] = WORD.exec(text) ?? []
  if (word === undefined) return undefined
  return { start, end: start + word.length, ...(open === '"' && { text: decoded(word) }) }
}

function readParts(text: string, start: number, depth: number): Placed | undefined {
  const isList = text[start] === '['
  const close = isList ? ']' : '}'
  const parts = new Map<string, Placed>()
  let at = skipSpace(text, start + 1)
  while (text[at] !== close) {
    let key = String(parts.size)
    if (!isList) {
      const name = read(text, at, depth + 1)
      if (name?.text === undefined) return undefined
      key = name.text
      at = skipSpace(text, name.end)
      if (text[at] !== ':') return undefined
      at = skipSpace(text, at + 1)
    }
    const value = read(text, at, depth + 1)
    if (value === undefined) return undefined
    parts.set(key, value)
    at = skipSpace(text, value.end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
    else if (text[at] !== close) return undefined
  }
  return { start, end: at + 1, parts }
}
