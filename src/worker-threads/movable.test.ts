import { describe, expect, it } from 'vitest'
import { isMovable } from './movable.ts'

const PROBES = [1, 4096, 4097, 8192, 20_000, 32_767, 32_768, 65_535, 65_536, 100_000]

describe('isMovable', () => {
  it.each(PROBES)('%d bytes of a text are moved only if they can be', (length) => {
    const bytes = Buffer.from('x'.repeat(length))
    if (!isMovable(bytes)) return
    expect(structuredClone(bytes, { transfer: [bytes.buffer] }).byteLength).toBe(length)
    expect(bytes.byteLength).toBe(0)
  })

  it('large bytes, and bytes with a buffer of their own, are moved', () => {
    expect(isMovable(Buffer.from('x'.repeat(100_000)))).toBe(true)
    expect(isMovable(new Uint8Array(5_000))).toBe(true)
    expect(isMovable(new Uint8Array(100))).toBe(false)
  })

  it('shared memory is never moved', () => {
    expect(isMovable(new Uint8Array(new SharedArrayBuffer(100_000)))).toBe(false)
  })
})
