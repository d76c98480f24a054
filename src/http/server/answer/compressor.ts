import { randomBytes, randomInt } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip, zstdCompress } from 'node:zlib'
import type { Headers } from '../../api/route.ts'

/** The bytes of a response and their encoding. */
export interface Encoded {
  headers: Headers
  body: Uint8Array | string
}

/** Compresses whole responses, off the event loop. */
export interface Compressor {
  /**
   * Encodes the response in an encoding that the client accepts, or returns it unchanged; `accepted` is the client's
   * header Accept-Encoding.
   */
  encode(accepted: string | undefined, headers: Headers, body: Uint8Array | string): Promise<Encoded>
}

const asZstd = promisify(zstdCompress)
const asGzip = promisify(gzip)

/**
 * Encodings in order of preference, at their fastest levels: most answers are compressed once and read once.
 */
const ENCODINGS = [
  ['zstd', (body: Uint8Array) => asZstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })],
  ['gzip', (body: Uint8Array) => asGzip(body, { level: 1 })],
] as const

/** Minimum size for compression; smaller responses fit into two packets. */
const MIN_BYTES = 2048
/**
 * Maximum number of responses that are compressed at the same time. Node has four threads for such work, and files are
 * synced on the same threads.
 */
const AT_ONCE = 2
const MAX_PADDING = 64
const TEXT = /^(application\/json|text\/(csv|plain))\b/

/** Creates a compressor, which all requests of a listener share because of its limit. */
export function createCompressor(): Compressor {
  let running = 0
  return {
    async encode(accepted, headers, body) {
      if (!TEXT.test(String(headers['content-type'] ?? '')) || headers['content-encoding'] !== undefined)
        return { headers, body }
      const varying: Headers = { ...headers, vary: withName(headers['vary'], 'accept-encoding') }
      const found = ENCODINGS.find(([name]) => accepts(accepted, name))
      // If too many responses are being compressed, this one is sent uncompressed instead of waiting.
      if (found === undefined || body.length < MIN_BYTES || running >= AT_ONCE)
        return { headers: varying, body }
      running += 1
      try {
        const [name, compress] = found
        const bytes = await compress(typeof body === 'string' ? Buffer.from(body) : body)
        const { 'content-length': _before, ...others } = varying
        return { headers: { ...others, 'content-encoding': name, 'x-padding': padding() }, body: bytes }
      } finally {
        running -= 1
      }
    },
  }
}

/** Whether an Accept-Encoding header names the encoding with a weight above 0. */
export function accepts(header: string | undefined, encoding: string): boolean {
  return (header ?? '').split(',').some((one) => {
    const [name = '', ...weights] = one.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !weights.some((weight) => /^q=0(\.0*)?$/.test(weight))
  })
}

function withName(vary: string | number | undefined, name: string): string {
  return vary === undefined ? name : `${vary}, ${name}`
}

/**
 * Text of random length. It hides the compressed size of an encrypted response, which could reveal parts of the response.
 */
function padding(): string {
  return randomBytes(MAX_PADDING)
    .toString('base64url')
    .slice(0, randomInt(MAX_PADDING + 1))
}
