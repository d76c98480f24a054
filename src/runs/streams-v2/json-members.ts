/**
 * The members of a JSON object, each value as the text that it is in `json`, so that large values need not be parsed.
 * Undefined when `json`, which must be valid JSON, is not an object.
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

function skipSpace(json: string, from: number): number {
  let at = from
  while (/\s/.test(json[at] ?? '')) at++
  return at
}

/** Position after the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  let at = from + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

/** Position of the comma or bracket after the value that begins at `from`. */
function endOfValue(json: string, from: number): number {
  let depth = 0
  let at = from
  while (at < json.length) {
    const char = json[at]
    if (char === '"') {
      at = endOfString(json, at)
      continue
    }
    if (depth === 0 && (char === ',' || char === '}' || char === ']')) return at
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    at++
  }
  return at
}
