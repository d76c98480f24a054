/**
 * Returns the members of a JSON object, each value as its text in `json`, so that large values need not be parsed.
 * `json` must be valid JSON; undefined if it is not an object.
 */
export function membersOf(json: string): Map<string, string> | undefined {
  let at = skipSpace(json, 0)
  if (json[at] !== '{') return undefined
  const members = new Map<string, string>()
  at = skipSpace(json, at + 1)
  while (json[at] === '"') {
    const keyEnd = endOfString(json, at)
    const key = JSON.parse(json.slice(at, keyEnd)) as string
    const begin = skipSpace(json, json.indexOf(':', keyEnd) + 1)
    const end = endOfValue(json, begin)
    members.set(key, json.slice(begin, end).trimEnd())
    at = skipSpace(json, end + 1)
  }
  return members
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN = new Set([0x7b, 0x5b])
const CLOSE = new Set([0x7d, 0x5d])

function skipSpace(json: string, from: number): number {
  let at = from
  while (json.charCodeAt(at) <= 0x20) at++
  return at
}

/** Position after the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  let at = json.indexOf('"', from + 1)
  while (at > 0 && isEscaped(json, at)) at = json.indexOf('"', at + 1)
  return at < 0 ? json.length : at + 1
}

function isEscaped(json: string, at: number): boolean {
  let first = at
  while (json.charCodeAt(first - 1) === BACKSLASH) first--
  return (at - first) % 2 === 1
}

/** Position of the comma or bracket after the value that begins at `from`. */
function endOfValue(json: string, from: number): number {
  let depth = 0
  let at = from
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(json, at)
      continue
    }
    if (depth === 0 && (code === COMMA || CLOSE.has(code))) return at
    if (OPEN.has(code)) depth++
    else if (CLOSE.has(code)) depth--
    at++
  }
  return at
}
