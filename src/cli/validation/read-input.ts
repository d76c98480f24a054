import { createReadStream } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import { type Capture, captureOf, MAX_CAPTURE_BYTES, unreadableText } from './capture.ts'
import type { ReadBody, RequestHead } from '../../trace/decode/decoded.ts'
import { parseJson } from '../../trace/json/json-text.ts'
import { readBody, readLines } from '../../trace/decode/validate-body.ts'

/** Bytes of lines that are decoded together. */
const PIECE_BYTES = 128 * 1024
/**
 * Maximum bytes of a field, as in the server (GET /info). The number of parts is unlimited here, since a capture may
 * contain several requests.
 */
const MAX_FIELD_BYTES = 50 * 1024 * 1024
const NEW_LINE = 10
/** V8's option that keeps a stream of 100,000 runs at 183 MB instead of 235 (measured), for no more CPU. */
const SMALL_YOUNG_GENERATION = '--semi-space-growth-factor=1'

/**
 * Reads a file, or standard input for `-`, and calls `take` with its content. Uncompressed NDJSON is read as a stream
 * of any length, a piece at a time; anything else is read whole. @throws AppError if nothing can be read
 */
export async function readInput(path: string, take: (body: ReadBody) => void): Promise<void> {
  const chunks = chunksOf(path)
  const { start, isLines } = await readStart(chunks)
  if (isLines) return readAllLines(start, chunks, take)
  if (start.length === 0) throw new AppError('invalid_request', { message: 'It is empty.' })
  const capture = captureOf(start)
  take(readBody(headOf(capture), capture.body))
}

/** @throws AppError invalid_request when the file cannot be read */
async function* chunksOf(path: string): AsyncGenerator<Buffer, void> {
  try {
    yield* path === '-' ? process.stdin : createReadStream(path)
  } catch (cause) {
    throw new AppError('invalid_request', { message: unreadableText(cause), cause })
  }
}

/**
 * Reads until the input is known to be NDJSON: its first line is whole JSON, and another one follows. Reads anything
 * else to its end. @throws AppError body_too_large
 */
async function readStart(chunks: AsyncGenerator<Buffer, void>): Promise<{ start: Buffer; isLines: boolean }> {
  const parts: Buffer[] = []
  let size = 0
  let mayBeLines = true
  let hasLine = false
  for (;;) {
    const { value: chunk, done } = await chunks.next()
    if (done === true) return { start: Buffer.concat(parts), isLines: false }
    parts.push(chunk)
    size += chunk.length
    if (size > MAX_CAPTURE_BYTES)
      throw new AppError('body_too_large', { message: `It is larger than ${MAX_CAPTURE_BYTES} bytes.` })
    hasLine ||= chunk.includes(NEW_LINE)
    if (!mayBeLines || !hasLine) continue
    const start = Buffer.concat(parts)
    const end = start.indexOf(NEW_LINE)
    const first = start.toString('utf8', 0, end)
    mayBeLines = first.startsWith('{') && parseJson(first) !== undefined
    if (mayBeLines && start.toString('latin1', end).trim() !== '') return { start, isLines: true }
  }
}

async function readAllLines(
  start: Buffer,
  chunks: AsyncGenerator<Buffer, void>,
  take: (body: ReadBody) => void,
): Promise<void> {
  const head = headOf({ content_type: '', content_encoding: '', body: start })
  let parts = [start]
  let size = start.length
  let line = 1
  const passLines = (bytes: Buffer): void => {
    take(readLines(head, bytes.toString('utf8'), line).body)
    for (const byte of bytes) if (byte === NEW_LINE) line++
  }
  for await (const chunk of chunks) {
    parts.push(chunk)
    size += chunk.length
    const end = chunk.lastIndexOf(NEW_LINE) + 1
    if (size < PIECE_BYTES || end === 0) {
      if (size > MAX_CAPTURE_BYTES)
        throw new AppError('body_too_large', {
          message: `A line is larger than ${MAX_CAPTURE_BYTES} bytes.`,
        })
      continue
    }
    setFlagsFromString(SMALL_YOUNG_GENERATION)
    const bytes = Buffer.concat(parts)
    const rest = chunk.subarray(end)
    passLines(bytes.subarray(0, bytes.length - rest.length))
    parts = [rest]
    size = rest.length
  }
  passLines(Buffer.concat(parts))
}

function headOf({ content_type, content_encoding }: Capture): RequestHead {
  return {
    kind: 'batch',
    content_type,
    content_encoding,
    workspace_id: NIL_UUID,
    user_id: NIL_UUID,
    api_key_id: NIL_UUID,
    received_at: Date.now(),
    limits: {
      max_body_bytes: MAX_CAPTURE_BYTES,
      max_parts: Number.MAX_SAFE_INTEGER,
      max_part_bytes: MAX_FIELD_BYTES,
    },
  }
}
