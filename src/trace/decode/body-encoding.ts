import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompressSync,
} from 'node:zlib'
import { AppError } from '../../base/errors.ts'
import { unsnappy } from './snappy.ts'

/**
 * A request body after decompression. `truncated`: the compressed stream stopped early, and `bytes` is what could be
 * decoded.
 */
export interface DecodedBody {
  bytes: Buffer
  truncated: boolean
}

interface Codec {
  run(body: Uint8Array, options: ZlibOptions): Buffer
  /** Flush mode that returns the decodable part of a stream that stopped early. */
  flush: number
}

const SNAPPY: Codec = {
  run: (body, { maxOutputLength }) => unsnappy(body, maxOutputLength),
  flush: constants.Z_SYNC_FLUSH,
}

const CODECS: Readonly<Record<string, Codec>> = {
  gzip: { run: gunzipSync, flush: constants.Z_SYNC_FLUSH },
  'x-gzip': { run: gunzipSync, flush: constants.Z_SYNC_FLUSH },
  zstd: { run: unzstd, flush: constants.ZSTD_e_flush },
  deflate: { run: inflateSync, flush: constants.Z_SYNC_FLUSH },
  snappy: SNAPPY,
  'x-snappy-framed': SNAPPY,
  br: { run: brotliDecompressSync, flush: constants.BROTLI_OPERATION_FLUSH },
}

const MIN_CHUNK = 16 * 1024
const MAX_CHUNK = 1024 * 1024
/** Maximum number of frames in a zstd body. Each needs a decoder, and only a decompression bomb has more. */
const MAX_FRAMES = 1000
const ZSTD_MAGIC = 0xfd2fb528
const ZSTD_SKIPPABLE = 0x184d2a50

/**
 * Decodes a body with this `Content-Encoding` (identity, gzip, zstd, deflate, snappy or br, ignoring case; '' is
 * identity) to at most `maxBytes`. Throws AppError body_too_large, unsupported_encoding, or invalid_encoding for a
 * damaged stream.
 */
export function decodeBody(body: Uint8Array, encoding: string, maxBytes: number): DecodedBody {
  const names = encoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  const name = names[0]
  if (name === undefined) {
    if (body.length > maxBytes) throw tooLarge(maxBytes)
    return { bytes: Buffer.from(body.buffer, body.byteOffset, body.byteLength), truncated: false }
  }
  const codec = Object.hasOwn(CODECS, name) ? CODECS[name] : undefined
  if (codec === undefined || names.length > 1) throw new AppError('unsupported_encoding')
  return decompress(codec, body, maxBytes)
}

function decompress(codec: Codec, body: Uint8Array, maxBytes: number): DecodedBody {
  const options: ZlibOptions = {
    maxOutputLength: Math.max(1, maxBytes),
    chunkSize: Math.min(MAX_CHUNK, Math.max(MIN_CHUNK, body.length * 8)),
  }
  try {
    return { bytes: codec.run(body, options), truncated: false }
  } catch (error) {
    if (errorCode(error) !== 'Z_BUF_ERROR') throw failure(error, maxBytes)
  }
  try {
    return { bytes: codec.run(body, { ...options, finishFlush: codec.flush }), truncated: true }
  } catch (error) {
    throw failure(error, maxBytes)
  }
}

/** Decodes all frames of a body (RFC 8878 §3.1). zstdDecompressSync stops after the first frame without an error. */
function unzstd(body: Uint8Array, options: ZlibOptions): Buffer {
  const limit = options.maxOutputLength ?? Number.MAX_SAFE_INTEGER
  const outputs: Buffer[] = []
  let size = 0
  let at = 0
  for (let frame = 0; frame < MAX_FRAMES; frame++) {
    const { buffer, consumed } = unzstdFrame(at === 0 ? body : body.subarray(at), {
      ...options,
      maxOutputLength: Math.max(1, limit - size),
    })
    outputs.push(buffer)
    size += buffer.length
    at += consumed
    if (size > limit) throw tooLarge(limit)
    if (at >= body.length) return outputs.length === 1 ? buffer : Buffer.concat(outputs)
    if (consumed === 0 || !startsFrame(body, at)) break
  }
  throw new AppError('invalid_encoding')
}

/** Decodes one frame; also returns how many bytes of `body` it took. */
function unzstdFrame(body: Uint8Array, options: ZlibOptions): { buffer: Buffer; consumed: number } {
  const { chunkSize, maxOutputLength, finishFlush } = options
  const withInfo: ZstdOptions & { info: true } = { chunkSize, maxOutputLength, finishFlush, info: true }
  // `info: true` makes the function return `{buffer, engine}`. Node's type declarations lack this form.
  const { buffer, engine } = zstdDecompressSync(body, withInfo) as unknown as {
    buffer: Buffer
    engine: { bytesWritten: number }
  }
  return { buffer, consumed: engine.bytesWritten }
}

function startsFrame(body: Uint8Array, at: number): boolean {
  if (at + 4 > body.length) return false
  const magic = new DataView(body.buffer, body.byteOffset + at).getUint32(0, true)
  return magic === ZSTD_MAGIC || (magic & 0xfffffff0) >>> 0 === ZSTD_SKIPPABLE
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

function failure(error: unknown, maxBytes: number): AppError {
  if (error instanceof AppError) return error
  if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes)
  return new AppError('invalid_encoding', { cause: error })
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', { message: `The body is larger than ${maxBytes} bytes.` })
}
