/** A captured request body with its headers, which are '' if unknown. */
export interface Capture {
  content_type: string
  content_encoding: string
  body: Uint8Array
}

/**
 * Maximum bytes of a capture, as sent and after decompression. Node's limit for the length of a string is a little
 * higher.
 */
export const MAX_CAPTURE_BYTES = 400 * 1024 * 1024

/**
 * A captured body. Compression is recognised by magic bytes. A dump of a failed request, as the LangSmith SDKs write
 * them, is unpacked.
 */
export function captureOf(body: Buffer): Capture {
  return readDump(body) ?? { content_type: '', content_encoding: encodingOf(body), body }
}

/** Why a file could not be read. */
export function unreadableText(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'There is no such file.'
  if (code === 'EISDIR') return 'It is a folder: name the files in it.'
  if (code === 'EACCES') return 'This user may not read it.'
  return `It cannot be read: ${message}`
}

/** The Content-Encoding of a body, determined by its first bytes; '' if it is not compressed. */
function encodingOf(body: Buffer): string {
  if (body.length < 4) return ''
  if (body.readUInt16BE(0) === 0x1f8b) return 'gzip'
  return body.readUInt32BE(0) === 0x28b52ffd ? 'zstd' : ''
}

/** Reads a dump `{version, endpoint, headers, body_base64}`; undefined for any other file. */
function readDump(file: Buffer): Capture | undefined {
  const start = file.toString('latin1', 0, 8192)
  if (!start.startsWith('{') || !start.includes('"body_base64"')) return undefined
  let dump: { headers?: unknown; body_base64?: unknown }
  try {
    dump = JSON.parse(file.toString('utf8')) as typeof dump
  } catch {
    return undefined
  }
  if (typeof dump.body_base64 !== 'string') return undefined
  const body = Buffer.from(dump.body_base64, 'base64')
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(dump.headers ?? {}))
    headers.set(name.toLowerCase(), String(value))
  return {
    content_type: headers.get('content-type') ?? '',
    content_encoding: headers.get('content-encoding') ?? encodingOf(body),
    body,
  }
}
