import { digits } from '../derive/time.ts'

export interface BodyPart {
  /** `name` of the part's Content-Disposition; undefined if its headers cannot be read. */
  name: string | undefined
  content_type: string
  content_encoding: string
  /** The position of the part in the body, [from, to). */
  from: number
  to: number
  /** False for the last part of a body that stops inside it. */
  complete: boolean
}

interface PartHeaders {
  name: string | undefined
  content_type: string
  content_encoding: string
  /** Header Content-Length, else parameter `length` of Content-Type; -1 if neither is given. */
  length: number
}

/** Maximum size of a header block; longer ones are not read. */
const MAX_HEADER_BYTES = 65_536
/** Size above which a header block is searched for delimiters, because it may contain the next parts. */
const USUAL_HEADER_BYTES = 2048
const BLANK_LINE = Buffer.from('\r\n\r\n')
const NO_HEADERS: PartHeaders = { name: undefined, content_type: '', content_encoding: '', length: -1 }
const [TAB, LF, CR, SPACE, DASH] = [0x09, 0x0a, 0x0d, 0x20, 0x2d]

/**
 * The boundary of a multipart body, from the Content-Type or otherwise from the first line of the body
 * (captured bodies have no headers). Undefined if neither has one.
 */
export function findBoundary(contentType: string, body: Buffer): string | undefined {
  const match = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType)
  const named = match?.[1] ?? match?.[2]
  if (named !== undefined) return named
  const end = body.indexOf('\r\n')
  return /^--([^\s"]{1,100})$/.exec(body.toString('latin1', 0, end < 0 || end > 102 ? 0 : end))?.[1]
}

/**
 * Calls `visit` for every part of a multipart body, in order; a part without readable headers has no name. The length
 * that a part declares is used if a boundary follows it; otherwise the next boundary ends the part. Returns how the
 * body ended: `closed` is false if it has no closing boundary. Undefined if it has no boundary at all. The time is
 * always linear in the size of the body.
 */
export function readBodyParts(
  body: Buffer,
  boundary: string,
  visit: (part: BodyPart) => void,
): { closed: boolean } | undefined {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'utf8')
  let at = afterFirstDelimiter(body, delimiter)
  if (at === undefined) return undefined
  let blank = 0
  while (at !== undefined) {
    if (body[at] === DASH && body[at + 1] === DASH) return { closed: true }
    const start = endOfLine(body, at)
    if (start > body.length) break
    if (blank >= 0 && blank < start - 2) blank = body.indexOf(BLANK_LINE, start - 2)
    at = readPart(body, delimiter, start, blank, visit)
  }
  return { closed: false }
}

/** Visits the part whose headers are [start, blank); returns the position after its delimiter, if there is one. */
function readPart(
  body: Buffer,
  delimiter: Buffer,
  start: number,
  blank: number,
  visit: (part: BodyPart) => void,
): number | undefined {
  const end = blank < 0 ? body.length : Math.max(start, blank)
  const text = end - start > MAX_HEADER_BYTES ? '' : body.toString('utf8', start, end)
  if (blank < 0 || end - start > USUAL_HEADER_BYTES || text.includes('\r\n--')) {
    const swallowed = nextDelimiter(body, delimiter, start - 2)
    if (swallowed >= 0 && swallowed < end) {
      visit({ ...NO_HEADERS, from: start, to: start, complete: true })
      return swallowed + delimiter.length
    }
  }
  const headers = readUsualHeaders(text) ?? readHeaders(text)
  if (blank < 0) {
    if (headers.name !== undefined) visit({ ...headers, from: end, to: end, complete: false })
    return undefined
  }
  const from = blank + 4
  const announced = headers.length < 0 ? -1 : from + headers.length
  let to = announced
  if (announced < 0 || !isDelimiter(body, delimiter, announced)) to = nextDelimiter(body, delimiter, from - 2)
  if (to >= 0) {
    visit({ ...headers, from, to: Math.max(from, to), complete: true })
    return to + delimiter.length
  }
  const complete = announced >= 0 && isCutDelimiter(body, delimiter, announced)
  visit({ ...headers, from, to: complete ? announced : body.length, complete })
  return undefined
}

function afterFirstDelimiter(body: Buffer, delimiter: Buffer): number | undefined {
  const bare = delimiter.subarray(2)
  if (startsWith(body, bare, 0, bare.length) && endsLine(body, bare.length)) return bare.length
  const at = nextDelimiter(body, delimiter, 0)
  return at < 0 ? undefined : at + delimiter.length
}

/** Position of the next delimiter at or after `from`; -1 if there is none. */
function nextDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  let at = body.indexOf(delimiter, from)
  while (at >= 0 && !endsLine(body, at + delimiter.length)) at = body.indexOf(delimiter, at + 2)
  return at
}

function isDelimiter(body: Buffer, delimiter: Buffer, at: number): boolean {
  return startsWith(body, delimiter, at, delimiter.length) && endsLine(body, at + delimiter.length)
}

/** Whether the body ends at `at`, or inside the delimiter that begins there. */
function isCutDelimiter(body: Buffer, delimiter: Buffer, at: number): boolean {
  const left = body.length - at
  return left >= 0 && left < delimiter.length && startsWith(body, delimiter, at, left)
}

function startsWith(body: Buffer, bytes: Buffer, at: number, count: number): boolean {
  if (at + count > body.length) return false
  for (let i = 0; i < count; i++) if (body[at + i] !== bytes[i]) return false
  return true
}

/** Whether a boundary may end at `at`: at a line end, closing dashes, white space, or the end of a truncated body. */
function endsLine(body: Buffer, at: number): boolean {
  const byte = body[at]
  if (byte === CR || byte === SPACE || byte === TAB || byte === undefined) return true
  return byte === DASH && (body[at + 1] === DASH || at + 1 === body.length)
}

/** Position after the next line end from `at` on; beyond the body if there is none. */
function endOfLine(body: Buffer, at: number): number {
  let end = at
  while (body[end] === SPACE || body[end] === TAB) end++
  return body[end] === CR && body[end + 1] === LF ? end + 2 : body.length + 1
}

/** The headers of JSON parts that the SDKs send: the length is a parameter (JS) or a header (Python). */
const USUAL_START = 'Content-Disposition: form-data; name="'
const USUAL_ENDS = [
  '"\r\nContent-Type: application/json; length=',
  '"\r\nContent-Type: application/json\r\nContent-Length: ',
] as const
const MAX_LENGTH_DIGITS = 15

/**
 * Parses the headers of a part in the form of both SDKs, without reading each header; undefined for headers in another
 * form.
 */
function readUsualHeaders(text: string): PartHeaders | undefined {
  if (!text.startsWith(USUAL_START)) return undefined
  const end = text.indexOf('"', USUAL_START.length)
  for (const usual of USUAL_ENDS) {
    if (!text.startsWith(usual, end)) continue
    const length = digits(text, end + usual.length, text.length)
    const size = text.length - end - usual.length
    if (Number.isNaN(length) || size < 1 || size > MAX_LENGTH_DIGITS) return undefined
    const name = text.slice(USUAL_START.length, end)
    if (name.includes('%') || name.includes('\\')) return undefined
    return { name, content_type: 'application/json', content_encoding: '', length }
  }
  return undefined
}

function readHeaders(text: string): PartHeaders {
  const headers: PartHeaders = { ...NO_HEADERS }
  let parameter = -1
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf('\r\n', at)
    const end = lineEnd < 0 ? text.length : lineEnd
    const colon = text.indexOf(':', at)
    if (colon >= 0 && colon < end) {
      const value = text.slice(colon + 1, end).trim()
      switch (text.slice(at, colon).trimEnd().toLowerCase()) {
        case 'content-disposition':
          headers.name = dispositionName(value)
          break
        case 'content-type':
          headers.content_type = value
          parameter = lengthParameter(value)
          break
        case 'content-length':
          headers.length = /^\d{1,15}$/.test(value) ? Number(value) : -1
          break
        case 'content-encoding':
          headers.content_encoding = value.toLowerCase()
          break
      }
    }
    at = end + 2
  }
  if (headers.length < 0) headers.length = parameter
  return headers
}

/** `name` of a Content-Disposition, however it is quoted: plain, with \" or %22 inside, or as name*=UTF-8''…. */
function dispositionName(value: string): string | undefined {
  const quoted = /[;\s]name="((?:[^"\\]|\\.)*)"/i.exec(value)?.[1]
  if (quoted !== undefined) return quoted.replace(/\\(["\\])/g, '$1').replaceAll('%22', '"')
  const extended = /[;\s]name\*=utf-8'[^']*'([^;\s]+)/i.exec(value)?.[1]
  if (extended !== undefined) return decodePercent(extended)
  return /[;\s]name=([^";\s]+)/i.exec(value)?.[1]
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Parameter `length` of a Content-Type, which the JS client sends because it cannot set part headers; -1 if there is
 * none.
 */
function lengthParameter(contentType: string): number {
  const found = /;\s*length="?(\d{1,15})(?!\d)/i.exec(contentType)
  return found === null ? -1 : Number(found[1])
}

/** The media type of a part without the parameter `length`. */
export function mediaType(contentType: string): string {
  return contentType.replace(/;\s*length="?\d*"?/i, '').trim() || 'application/octet-stream'
}
