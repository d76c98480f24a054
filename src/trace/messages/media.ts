/** A text without embedded media, and how many UTF-16 units were left out. */
export interface TextWithoutMedia {
  text: string
  removed: number
}

// A data URL up to the first character that cannot be part of one. Every repetition is bounded or unambiguous, so
// that matching takes linear time.
const DATA_URL = /data:[\w.+-]{1,80}\/[\w.+-]{1,120}(?:;[\w.=+-]{1,120}){0,5},[^\s"'`<>()\\]*/gi
// Shorter texts are not searched.
const SHORTEST_DATA_URL = 32
const SHORTEST_BASE64 = 1024
// Minimum length of the lines of base64; a shorter line ends it.
const SHORTEST_LINE = 60

/**
 * Removes embedded media from a text, because models do not receive media as text. Embedded media are data URLs, and
 * runs of 1,024 or more characters of base64. A run counts as base64 if it has no spaces, breaks lines only after 60
 * characters or more, and mixes upper case (at least a tenth), lower case (a tenth) and digits (a thirtieth), as
 * encoded bytes do. So words, code, hex, long URLs and `aaaa…` stay. Linear in the length of the text.
 */
export function withoutMedia(text: string): TextWithoutMedia {
  if (text.length < SHORTEST_DATA_URL) return { text, removed: 0 }
  const kept = withoutBase64(text.replace(DATA_URL, ''))
  return { text: kept, removed: text.length - kept.length }
}

function withoutBase64(text: string): string {
  if (text.length < SHORTEST_BASE64) return text
  const kinds = charKinds()
  let kept = ''
  let keptTo = 0
  for (let i = 0; i < text.length; i++) {
    if (kindAt(kinds, text, i) === OTHER) continue
    const end = base64End(text, i, kinds)
    if (end > 0) {
      kept += text.slice(keptTo, i)
      keptTo = end
      i = end
    } else {
      i = -end
    }
  }
  return keptTo === 0 ? text : kept + text.slice(keptTo)
}

// End of the run that starts here; negative if the run is not base64.
function base64End(text: string, start: number, kinds: Uint8Array): number {
  const counts = new Int32Array(5)
  let lineStart = start
  let i = start
  for (; i < text.length; i++) {
    const kind = kindAt(kinds, text, i)
    if (kind !== OTHER) {
      counts[kind] = (counts[kind] as number) + 1
      continue
    }
    const code = text.charCodeAt(i)
    const next = code === CR && text.charCodeAt(i + 1) === LF ? i + 2 : i + 1
    if ((code !== LF && code !== CR) || i - lineStart < SHORTEST_LINE || kindAt(kinds, text, next) === OTHER)
      break
    lineStart = next
    i = next - 1
  }
  const [, upper = 0, lower = 0, digits = 0] = counts
  const length = i - start
  const mixed = upper * 10 >= length && lower * 10 >= length && digits * 30 >= length
  if (length < SHORTEST_BASE64 || !mixed) return -i
  while (text.charCodeAt(i) === EQUALS) i++
  return i
}

const OTHER = 0
const LF = 0x0a
const CR = 0x0d
const EQUALS = 0x3d

function kindAt(kinds: Uint8Array, text: string, at: number): number {
  return kinds[text.charCodeAt(at)] ?? OTHER
}

// Both alphabets of base64, by character code: 1 upper case, 2 lower case, 3 digit, 4 the rest.
function charKinds(): Uint8Array {
  const kinds = new Uint8Array(128)
  kinds.fill(1, 0x41, 0x5b)
  kinds.fill(2, 0x61, 0x7b)
  kinds.fill(3, 0x30, 0x3a)
  for (const rest of '+/-_') kinds[rest.charCodeAt(0)] = 4
  return kinds
}
