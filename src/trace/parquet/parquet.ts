import { zstdCompressSync } from 'node:zlib'
import { i32, i64, inner, numbers, struct, structs, stringField, texts } from './thrift.ts'

/** `decimal` is `DECIMAL(38, 18)`, `time` microseconds in UTC. */
export type ColumnType = 'text' | 'integer' | 'decimal' | 'time'

export interface ParquetColumn {
  name: string
  type: ColumnType
}

/** A value of a column: text, or an integer, a decimal in units of 10^-18, microseconds; null if unknown. */
export type ParquetValue = string | bigint | null

/** Numbers of the format: its physical types, and what they mean. */
const PHYSICAL = { text: 6, integer: 2, decimal: 7, time: 2 } as const
const CONVERTED = { text: 0, integer: undefined, decimal: 5, time: 10 } as const
const [SCALE, PRECISION, DECIMAL_BYTES] = [18, 38, 16]
const OPTIONAL = 1
const [PLAIN, RLE] = [0, 3]
const ZSTD = 6
const VERSION = 1
const MARK = Buffer.from('PAR1')
/** For each column of a group: bytes of the written page with its head, and those without compression. */
const SIZES = 2 * 4

function integer(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt.asIntN(64, value))
  return bytes
}

function decimal(value: bigint): Buffer {
  const bytes = Buffer.alloc(DECIMAL_BYTES)
  bytes.writeBigInt64BE(BigInt.asIntN(64, value >> 64n))
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value), 8)
  return bytes
}

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}

function plain(type: ColumnType, value: string | bigint): Buffer {
  if (typeof value === 'string') return withLength(Buffer.from(value))
  return type === 'decimal' ? decimal(value) : integer(value)
}

/** Which rows have a value: one bit a row, in a run of whole bytes. */
function levels(values: readonly ParquetValue[]): Buffer {
  const bits = Buffer.alloc(Math.ceil(values.length / 8))
  for (const [at, value] of values.entries()) if (value !== null) bits[at >> 3]! |= 1 << (at & 7)
  // At most 2^13 bytes of bits: a head of two bytes.
  const head = (bits.length << 1) | 1
  return withLength(Buffer.concat([Buffer.from([(head & 0x7f) | 0x80, head >> 7]), bits]))
}

function page(type: ColumnType, values: readonly ParquetValue[]): { bytes: Buffer; raw: number } {
  const stored = values.flatMap((value) => (value === null ? [] : [plain(type, value)]))
  const content = Buffer.concat([levels(values), ...stored])
  const packed = zstdCompressSync(content)
  const about = struct([i32(1, values.length), i32(2, PLAIN), i32(3, RLE), i32(4, RLE)])
  const head = struct([i32(1, 0), i32(2, content.length), i32(3, packed.length), inner(5, about)])
  return { bytes: Buffer.concat([head, packed]), raw: head.length + content.length }
}

/** Most rows of a group: the bits of a page say so in two bytes. */
export const MOST_ROWS = 8 * 0x1fff

/**
 * The rows of a group in columns, for `createParquetFile`: the pages, then their sizes and the number of rows. It is
 * made where payloads may be read; what joins the groups does not parse them.
 * @throws RangeError for more than `MOST_ROWS` rows
 */
export function parquetRows(
  columns: readonly ParquetColumn[],
  rows: readonly (readonly ParquetValue[])[],
): Uint8Array<ArrayBuffer> {
  if (rows.length > MOST_ROWS) throw new RangeError(`a group has at most ${MOST_ROWS} rows`)
  const tail = Buffer.alloc(columns.length * SIZES + 4)
  tail.writeUInt32LE(rows.length, columns.length * SIZES)
  const pages = columns.map(({ type }, at) => {
    const { bytes, raw } = page(
      type,
      rows.map((row) => row[at] ?? null),
    )
    tail.writeUInt32LE(bytes.length, at * SIZES)
    tail.writeUInt32LE(raw, at * SIZES + 4)
    return bytes
  })
  return Buffer.concat([...pages, tail])
}

function schemaOf({ name, type }: ParquetColumn): Buffer {
  const converted = CONVERTED[type]
  const isDecimal = type === 'decimal'
  return struct([
    i32(1, PHYSICAL[type]),
    ...(isDecimal ? [i32(2, DECIMAL_BYTES)] : []),
    i32(3, OPTIONAL),
    stringField(4, name),
    ...(converted === undefined ? [] : [i32(6, converted)]),
    ...(isDecimal ? [i32(7, SCALE), i32(8, PRECISION)] : []),
  ])
}

/** A file that is written group after group. It keeps only what its end says about the groups. */
export interface ParquetFile {
  /** The bytes before the first group. */
  begin(): Uint8Array
  /** The bytes of a group made by `parquetRows` with the same columns. */
  add(group: Uint8Array): Uint8Array
  end(): Uint8Array
}

export function createParquetFile(columns: readonly ParquetColumn[]): ParquetFile {
  const groups: Uint8Array[] = []
  let [size, count] = [MARK.length, 0]

  function add(group: Uint8Array): Uint8Array {
    const view = new DataView(group.buffer, group.byteOffset, group.byteLength)
    const sizesAt = group.byteLength - 4 - columns.length * SIZES
    const rows = view.getUint32(group.byteLength - 4, true)
    if (rows === 0) return new Uint8Array()
    let total = 0
    const chunks = columns.map(({ name, type }, at) => {
      const bytes = view.getUint32(sizesAt + at * SIZES, true)
      const raw = view.getUint32(sizesAt + at * SIZES + 4, true)
      const about = struct([
        i32(1, PHYSICAL[type]),
        numbers(2, [PLAIN, RLE]),
        texts(3, [name]),
        i32(4, ZSTD),
        i64(5, rows),
        i64(6, raw),
        i64(7, bytes),
        i64(9, size),
      ])
      const chunk = struct([i64(2, size), inner(3, about)])
      size += bytes
      total += raw
      return chunk
    })
    groups.push(struct([structs(1, chunks), i64(2, total), i64(3, rows)]))
    count += rows
    return group.subarray(0, sizesAt)
  }

  return {
    begin: () => MARK,
    add,
    end() {
      const root = struct([stringField(4, 'runs'), i32(5, columns.length)])
      const schema = [root, ...columns.map(schemaOf)]
      const footer = struct([
        i32(1, VERSION),
        structs(2, schema),
        i64(3, count),
        structs(4, groups),
        stringField(6, 'weir'),
      ])
      const length = Buffer.alloc(4)
      length.writeUInt32LE(footer.length)
      return Buffer.concat([footer, length, MARK])
    },
  }
}
