import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { decodeBody } from './body-encoding.ts'

const TEXT = Buffer.from('some text, and some more text. '.repeat(1000))
const LIMIT = 1_000_000

function codeOf(body: Uint8Array, encoding: string, limit = LIMIT): string | undefined {
  try {
    decodeBody(body, encoding, limit)
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

describe('INGEST-5: decodeBody', () => {
  it.each([
    ['', TEXT],
    ['Identity', TEXT],
    ['gzip', gzipSync(TEXT)],
    ['X-GZIP', gzipSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    ['identity, zstd', zstdCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
  ])('decodes %s', (encoding, body) => {
    const decoded = decodeBody(body, encoding, TEXT.length)
    expect(decoded).toEqual({ bytes: TEXT, truncated: false })
    expect(codeOf(body, encoding, TEXT.length - 1)).toBe('body_too_large')
  })

  it('decodes every frame of a zstd body, within one limit', () => {
    const skippable = Buffer.of(0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9)
    const frames = Buffer.concat([zstdCompressSync(TEXT), skippable, zstdCompressSync(TEXT)])
    expect(decodeBody(frames, 'zstd', LIMIT).bytes.equals(Buffer.concat([TEXT, TEXT]))).toBe(true)
    expect(codeOf(frames, 'zstd', TEXT.length * 2 - 1)).toBe('body_too_large')
    expect(codeOf(frames, 'zstd', TEXT.length)).toBe('body_too_large')
    expect(codeOf(Buffer.concat([zstdCompressSync(TEXT), TEXT]), 'zstd')).toBe('invalid_encoding')
    const empty = zstdCompressSync(Buffer.alloc(0))
    expect(codeOf(Buffer.concat(Array.from({ length: 2000 }, () => empty)), 'zstd')).toBe('invalid_encoding')
  })

  it.each(['gzip', 'zstd', 'deflate', 'br'])('refuses damaged %s and unknown encodings', (encoding) => {
    expect(codeOf(TEXT, encoding)).toBe('invalid_encoding')
    expect(codeOf(TEXT, `${encoding}, gzip`)).toBe('unsupported_encoding')
    expect(codeOf(TEXT, 'toString')).toBe('unsupported_encoding')
  })

  it('returns the part of a truncated stream that can be decoded', () => {
    const noise = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * i * 31) % 251))
    for (const [encoding, wire] of [
      ['gzip', gzipSync(noise)],
      ['zstd', zstdCompressSync(noise)],
    ] as const) {
      const { bytes, truncated } = decodeBody(wire.subarray(0, wire.length - 20), encoding, LIMIT)
      expect(truncated).toBe(true)
      expect(bytes.equals(noise.subarray(0, bytes.length))).toBe(true)
    }
  })
})
