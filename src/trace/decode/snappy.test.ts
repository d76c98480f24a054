import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../test/support/properties.ts'
import { AppError } from '../../base/errors.ts'
import { decodeBody } from './body-encoding.ts'
import { unsnappy } from './snappy.ts'

const TEXT = '{"name":"chat gpt-4.1-mini","kind":3},'.repeat(40)
const hex = (digits: string): Buffer => Buffer.from(digits, 'hex')
/** The output of Google's library for Go: TEXT as a block, and TEXT and `hi` as a stream. */
const BLOCK = Buffer.concat([
  hex('f00b98'),
  Buffer.from(TEXT.slice(0, 39)),
  hex('fe2600'.repeat(23)),
  hex('1526'),
])
const STREAM = Buffer.concat([
  hex('ff060000734e61507059'),
  hex('007500003291bc20'),
  BLOCK,
  hex('0106000013d608566869'),
])

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
  return 'none'
}

describe('snappy', () => {
  it('is read as a block and as a stream, under each of its names', () => {
    for (const encoding of ['snappy', 'x-snappy-framed', 'Snappy']) {
      expect(decodeBody(BLOCK, encoding, 1 << 20).bytes.toString()).toBe(TEXT)
      expect(decodeBody(STREAM, encoding, 1 << 20).bytes.toString()).toBe(`${TEXT}hi`)
    }
    expect(unsnappy(Buffer.of(0)).length).toBe(0)
  })

  it('decodes copies of every kind, also of bytes that the copy itself writes', () => {
    const literal = [...Buffer.of(3 << 2), ...Buffer.from('abcd')]
    const near = [1 | (2 << 2), 2]
    const far = [2 | (3 << 2), 4, 0]
    const farther = [3 | (0 << 2), 1, 0, 0, 0]
    const block = Buffer.of(15, ...literal, ...near, ...far, ...farther)
    expect(unsnappy(block).toString()).toBe('abcdcdcdcdcdcdd')
    const long = Buffer.concat([Buffer.of(0x80, 2, 61 << 2, 255, 0), Buffer.alloc(256, 'z')])
    expect(unsnappy(long).toString()).toBe('z'.repeat(256))
  })

  it('is refused when it holds more than the limit, before memory is allocated for it', () => {
    expect(codeOf(() => unsnappy(BLOCK, TEXT.length - 1))).toBe('body_too_large')
    expect(codeOf(() => unsnappy(STREAM, TEXT.length + 1))).toBe('body_too_large')
    expect(unsnappy(STREAM, TEXT.length + 2).length).toBe(TEXT.length + 2)
    const fourGigabytes = Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f, 0)
    expect(codeOf(() => unsnappy(fourGigabytes, 1000))).toBe('body_too_large')
    expect(codeOf(() => unsnappy(fourGigabytes))).toBe('invalid_encoding')
  })

  it.each([
    ['nothing', []],
    ['a length without end', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ['a literal that stops early', [4, 3 << 2, 97]],
    ['less than it announces', [4, 0, 97]],
    ['more than it announces', [1, 1 << 2, 97, 98]],
    ['a copy of what is not there', [4, 0, 97, 1, 2]],
    ['a copy from nowhere', [5, 0, 97, 1, 0]],
    ['a stream cut in a chunk', [...STREAM.subarray(0, 30)]],
    ['a stream cut in the head of a chunk', [...STREAM.subarray(0, 12)]],
    ['a chunk that must be understood', [...STREAM.subarray(0, 10), 2, 0, 0, 0]],
    ['a chunk without a checksum', [...STREAM.subarray(0, 10), 1, 1, 0, 0, 9]],
  ])('is refused when it is %s', (_, bytes) => {
    expect(codeOf(() => unsnappy(Buffer.from(bytes)))).toBe('invalid_encoding')
  })

  it('decodes to bytes or is refused, for any mutation', () => {
    const change = fc.tuple(fc.nat(STREAM.length - 1), fc.nat(255))
    fc.assert(
      fc.property(fc.constantFrom(BLOCK, STREAM), fc.array(change, { maxLength: 8 }), (whole, changes) => {
        const bytes = Buffer.from(whole)
        for (const [at, value] of changes) bytes[at % bytes.length] = value
        expect(['none', 'invalid_encoding', 'body_too_large']).toContain(
          codeOf(() => expect(unsnappy(bytes, 5000).length).toBeLessThanOrEqual(5000)),
        )
      }),
      tries(),
    )
  })
})
