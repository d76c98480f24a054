import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { patchUuid, RowReader, RowWriter } from './row-binary.ts'
import { tries } from '../../../test/support/properties.ts'

const ID = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'

function written(write: (writer: RowWriter) => void): RowReader {
  const writer = new RowWriter(1)
  write(writer)
  return new RowReader(writer.finish())
}

describe('RowWriter', () => {
  it('writes the layout of ClickHouse: little-endian numbers, uuids as two reversed halves, varint lengths', () => {
    const writer = new RowWriter()
    writer.u8(1)
    writer.u16(0x0203)
    writer.u32(0x04050607)
    writer.uuid('00112233-4455-6677-8899-aabbccddeeff')
    writer.string('é')
    writer.strings(['a', ''])
    writer.nullable(null, (value: number) => writer.u8(value))
    writer.nullable(7, (value) => writer.u8(value))
    expect(Buffer.from(writer.finish()).toString('hex')).toBe(
      [
        '01',
        '0302',
        '07060504',
        '7766554433221100',
        'ffeeddccbbaa9988',
        '02c3a9',
        '020161',
        '00',
        '01',
        '0007',
      ].join(''),
    )
  })

  it('returns bytes in a buffer of their own, not much larger than they are', () => {
    for (const capacity of [64, 100, 1000]) {
      const writer = new RowWriter(capacity)
      writer.raw(new Uint8Array(64).fill(9))
      const bytes = writer.finish()
      expect([bytes.length, bytes.byteOffset]).toEqual([64, 0])
      expect(bytes.buffer.byteLength).toBeLessThanOrEqual(128)
    }
  })

  it('overwrites earlier bytes', () => {
    const writer = new RowWriter()
    writer.uuid('ffffffff-ffff-ffff-ffff-ffffffffffff')
    writer.u8(5)
    writer.patchHex(16, '06', 1)
    const rows = writer.finish()
    patchUuid(rows, 0, ID.toUpperCase())
    const reader = new RowReader(rows)
    expect([reader.uuid(), reader.u8(), reader.done]).toEqual([ID, 6, true])
  })

  it('replaces lone surrogates', () => {
    expect(written((writer) => writer.string('a\ud800b')).string()).toBe('a\ufffdb')
  })
})

describe('RowReader', () => {
  it('reads back what was written, of any size', () => {
    const row = fc.record({
      small: fc.nat(255),
      short: fc.nat(65_535),
      word: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      big: fc.maxSafeNat(),
      signed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      whole: fc.maxSafeInteger(),
      real: fc.double({ noNaN: true }),
      id: fc.uuid(),
      text: fc.string({ unit: 'grapheme' }),
      bytes: fc.uint8Array({ maxLength: 300 }),
      list: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
      maybe: fc.option(fc.nat(255)),
    })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 4 }), (rows) => {
        const reader = written((writer) => {
          for (const value of rows) {
            writer.u8(value.small)
            writer.u16(value.short)
            writer.u32(value.word)
            writer.u64(value.big)
            writer.i64(value.signed)
            writer.safeI64(value.whole)
            writer.f64(value.real)
            writer.uuid(value.id)
            writer.string(value.text)
            writer.bytes(value.bytes)
            writer.strings(value.list)
            writer.nullable(value.maybe, (number) => writer.u8(number))
          }
        })
        const back = rows.map(() => ({
          small: reader.u8(),
          short: reader.u16(),
          word: reader.u32(),
          big: reader.u64(),
          signed: reader.i64(),
          whole: reader.safeI64(),
          real: reader.f64(),
          id: reader.uuid(),
          text: reader.string(),
          bytes: new Uint8Array(reader.bytes()),
          list: reader.strings(),
          maybe: reader.nullable(() => reader.u8()),
        }))
        expect(back).toEqual(rows)
        expect(reader.done).toBe(true)
      }),
      tries(),
    )
  })

  it('writes a number as the same Int64 as its BigInt, and refuses others', () => {
    for (const value of [0, -1, 2 ** 32, -(2 ** 32), 1_764_392_400_000_000, -(2 ** 53), 2 ** 60, -(2 ** 63)])
      expect(written((writer) => writer.safeI64(value)).i64()).toBe(BigInt(value))
    for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 63])
      expect(() => written((writer) => writer.safeI64(value))).toThrow(RangeError)
  })

  it('throws RangeError if the bytes end inside a value', () => {
    const cut = (size: number) => new RowReader(new Uint8Array(size).fill(200))
    expect(() => cut(15).uuid()).toThrow(RangeError)
    expect(() => cut(7).i64()).toThrow(RangeError)
    expect(() => cut(3).varint()).toThrow(RangeError)
    expect(() => new RowReader(Uint8Array.of(5, 1, 2)).bytes()).toThrow(RangeError)
  })
})
