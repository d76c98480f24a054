import { joinPieces, type Piece } from './trace-run.ts'

/** A file inside JSON. */
export interface Media {
  /** The type that the text declares or that the first bytes show; otherwise `application/octet-stream`. */
  mime: string
  bytes: Uint8Array<ArrayBuffer>
}

/** Minimum length of a text that is replaced. */
const MIN_CHARS = 4096
/** First characters of a text that distinguish base64 from prose and show the media type. */
const PEEK_CHARS = 64
const MAX_DATA_HEAD = 200
const UNKNOWN = 'application/octet-stream'
const [QUOTE, BACKSLASH, COMMA, EQUALS] = [0x22, 0x5c, 0x2c, 0x3d]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Replaces each text that is a file of more than 4 KB in base64, or a data: URL of one, by `{"$media", "size",
 * "mime"}`. `$media` is `link` followed by the text's JSON Pointer, `size` the number of bytes of the file.
 * Everything else is kept byte for byte.
 */
export function withMediaLinks(json: Uint8Array<ArrayBuffer>, link: string): Uint8Array<ArrayBuffer> {
  const bytes = asBuffer(json)
  const pieces: Piece[] = []
  let copied = 0
  for (const { from, to, path } of longTexts(bytes)) {
    const found = fileIn(bytes, from, to)
    if (found === undefined) continue
    const { mime, base64 } = found
    const ref = { $media: link + encodeURIComponent(path()), size: Buffer.byteLength(base64, 'base64'), mime }
    pieces.push(bytes.subarray(copied, from - 1), JSON.stringify(ref))
    copied = to + 1
  }
  return pieces.length === 0 ? json : joinPieces([...pieces, bytes.subarray(copied)])
}

/** The file at a JSON Pointer; undefined if `withMediaLinks` replaces no text there. */
export function mediaAt(json: Uint8Array, pointer: string): Media | undefined {
  const bytes = asBuffer(json)
  for (const { from, to, path } of longTexts(bytes)) {
    if (path() !== pointer) continue
    const found = fileIn(bytes, from, to)
    if (found === undefined) return undefined
    return { mime: found.mime, bytes: new Uint8Array(Buffer.from(found.base64, 'base64')) }
  }
  return undefined
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** A text of the JSON between its quotes. */
interface LongText {
  from: number
  to: number
  /** Returns the JSON Pointer of the text. */
  path(): string
}

/** The current place in an open object or list. */
interface Level {
  isList: boolean
  index: number
  /** The key with its quotes. */
  from: number
  to: number
}

/** Values that are texts of more than 4 KB. */
function* longTexts(json: Buffer): Generator<LongText> {
  const levels: Level[] = []
  let awaitsKey = false
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at]
    const level = levels.at(-1)
    if (sign === OPEN_OBJECT || sign === OPEN_LIST) {
      awaitsKey = sign === OPEN_OBJECT
      levels.push({ isList: !awaitsKey, index: 0, from: 0, to: 0 })
    } else if (sign === CLOSE_OBJECT || sign === CLOSE_LIST) {
      awaitsKey = false
      levels.pop()
    } else if (sign === COMMA && level !== undefined) {
      awaitsKey = !level.isList
      level.index += 1
    } else if (sign === QUOTE) {
      const [from, to] = [at + 1, endOfText(json, at + 1)]
      if (awaitsKey && level !== undefined) Object.assign(level, { from: at, to: to + 1 })
      else if (to - from > MIN_CHARS) yield { from, to, path: () => pointerOf(json, levels) }
      awaitsKey = false
      at = to
    }
  }
}

function endOfText(json: Buffer, from: number): number {
  for (let end = json.indexOf(QUOTE, from); end >= 0; end = json.indexOf(QUOTE, end + 1)) {
    let escapes = 0
    while (json[end - 1 - escapes] === BACKSLASH) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return json.length
}

function pointerOf(json: Buffer, levels: readonly Level[]): string {
  const names = levels.map(({ isList, index, from, to }) =>
    isList ? String(index) : (JSON.parse(json.toString('utf8', from, to)) as string),
  )
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Letters of base64, also of its form for URLs. */
const LETTERS = new Uint8Array(256)
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')
  LETTERS[letter.charCodeAt(0)] = 1

const DATA_URL = /^data:([a-z]+\/[\w.+-]+)?(?:;[\w=.-]+)*;base64,/i
/** Base64 of an unknown type must contain upper case, lower case and digits, unlike words and hex numbers. */
const MIXED = /(?=.*[a-z])(?=.*[A-Z])(?=.*\d)/

/** The file in a text. */
function fileIn(json: Buffer, from: number, to: number): { mime: string; base64: string } | undefined {
  const start = json.toString('latin1', from, Math.min(to, from + MAX_DATA_HEAD))
  const head = DATA_URL.exec(start.replaceAll('\\/', '/'))
  if (head === null && !isBase64(Buffer.from(start.slice(0, PEEK_CHARS).replaceAll('\\n', ''))))
    return undefined
  const text = plainText(json, from, to).slice(head?.[0].length ?? 0)
  const letters = Buffer.from(text, 'latin1')
  if (!isBase64(letters)) return undefined
  const mime = typeOf(Buffer.from(text.slice(0, PEEK_CHARS), 'base64'))
  if (head !== null) return { mime: head[1]?.toLowerCase() ?? mime, base64: text }
  return mime === UNKNOWN && !MIXED.test(text.slice(0, MIN_CHARS)) ? undefined : { mime, base64: text }
}

/** The text without escapes; base64 may be broken into lines. */
function plainText(json: Buffer, from: number, to: number): string {
  const escape = json.indexOf(BACKSLASH, from)
  if (escape < 0 || escape >= to) return json.toString('latin1', from, to)
  return (JSON.parse(json.toString('utf8', from - 1, to + 1)) as string).replace(/[\r\n]/g, '')
}

function isBase64(letters: Buffer): boolean {
  let end = letters.length
  while (end > letters.length - 2 && letters[end - 1] === EQUALS) end -= 1
  for (let at = 0; at < end; at += 1) if (LETTERS[letters[at]!] === 0) return false
  return true
}

const bytes = (text: string): RegExp => new RegExp(`^${text}`, 's')
const FORMATS: readonly (readonly [RegExp, string])[] = [
  [bytes('\\x89PNG\\r\\n'), 'image/png'],
  [bytes('\\xff\\xd8\\xff'), 'image/jpeg'],
  [bytes('GIF8[79]a'), 'image/gif'],
  [bytes('RIFF.{4}WEBP'), 'image/webp'],
  [bytes('.{4}ftypavi[fs]'), 'image/avif'],
  [bytes('BM.{4}\\0{4}'), 'image/bmp'],
  [bytes('RIFF.{4}WAVE'), 'audio/wav'],
  [bytes('(?:ID3|\\xff[\\xfb\\xf3\\xf2])'), 'audio/mpeg'],
  [bytes('\\xff[\\xf1\\xf9]'), 'audio/aac'],
  [bytes('OggS'), 'audio/ogg'],
  [bytes('fLaC'), 'audio/flac'],
  [bytes('.{4}ftypM4A'), 'audio/mp4'],
  [bytes('.{4}ftyp'), 'video/mp4'],
  [bytes('\\x1aE\\xdf\\xa3'), 'video/webm'],
  [bytes('%PDF-'), 'application/pdf'],
]

/** The type that the first bytes of a file show. */
function typeOf(start: Buffer): string {
  const text = start.toString('latin1')
  return FORMATS.find(([begins]) => begins.test(text))?.[1] ?? UNKNOWN
}
