const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x7b, 0x7d]

/**
 * Whether JSON is nested deeper than `max_depth`. Callers ask before they parse, because V8 takes ten times as long for
 * deep JSON as for other JSON of its size, and code that walks the value would overflow the stack.
 */
export function isDeeperThan(max_depth: number, json: Uint8Array): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0
    if (isText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    // A bracket differs from a brace in one bit.
    else if ((byte | 0x20) === OPEN && ++depth > max_depth) return true
    else if ((byte | 0x20) === CLOSE) depth -= 1
  }
  return false
}
