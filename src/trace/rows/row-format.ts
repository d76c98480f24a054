import { RowReader, type RowWriter } from './row-binary.ts'

/** Writes and reads the values of one column. */
export interface Codec<T> {
  write(out: RowWriter, value: T): void
  read(from: RowReader): T
  /** Bytes of every value; absent if values differ in length. */
  size?: number
}

export const uuid: Codec<string> = {
  write: (out, value) => out.uuid(value),
  read: (from) => from.uuid(),
  size: 16,
}
export const u8: Codec<number> = { write: (out, value) => out.u8(value), read: (from) => from.u8(), size: 1 }
export const i32: Codec<number> = {
  write: (out, value) => out.u32(value >>> 0),
  read: (from) => from.u32() | 0,
  size: 4,
}
export const u64: Codec<number> = {
  write: (out, value) => out.u64(value),
  read: (from) => from.u64(),
  size: 8,
}
export const f64: Codec<number> = {
  write: (out, value) => out.f64(value),
  read: (from) => from.f64(),
  size: 8,
}
export const i128: Codec<bigint> = {
  write: (out, value) => out.i128(value),
  read: (from) => from.i128(),
  size: 16,
}
/** DateTime64, in the unit of its column. */
export const ticks: Codec<number> = {
  write: (out, value) => out.safeI64(value),
  read: (from) => from.safeI64(),
  size: 8,
}
export const flag: Codec<boolean> = {
  write: (out, value) => out.u8(value ? 1 : 0),
  read: (from) => from.u8() === 1,
  size: 1,
}
export const string: Codec<string> = {
  write: (out, value) => out.string(value),
  read: (from) => from.string(),
}
/** A String column as bytes; reading returns a view. */
export const bytes: Codec<Uint8Array> = {
  write: (out, value) => out.bytes(value),
  read: (from) => from.bytes(),
}
export const strings: Codec<string[]> = {
  write: (out, value) => out.strings(value),
  read: (from) => from.strings(),
}

export function nullable<T>({ write, read }: Codec<T>): Codec<T | null> {
  return {
    write: (out, value) => out.nullable(value, (it) => write(out, it)),
    read: (from) => (from.u8() === 1 ? null : read(from)),
  }
}

/** A Map(String, …) column. */
export function map<T>({ write, read }: Codec<T>): Codec<Record<string, T>> {
  return {
    write: (out, value) => {
      const keys = Object.keys(value)
      out.varint(keys.length)
      for (const key of keys) {
        out.string(key)
        write(out, value[key]!)
      }
    },
    read: (from) => {
      const values: Record<string, T> = {}
      for (let left = from.varint(); left > 0; left--) {
        const key = from.string()
        values[key] = read(from)
      }
      return values
    },
  }
}

/** A codec for each column, in the order of the encoding. */
export type Codecs<Row> = { readonly [K in keyof Row]-?: Codec<Row[K]> }

/** The RowBinary encoding of a table's rows. */
export interface RowFormat<Row> {
  /** Columns in the order of the encoding. */
  readonly columns: readonly (keyof Row & string)[]
  write(out: RowWriter, row: Row): void
  /**
   * Every row of `rows`, which contains these columns in this order. Throws RangeError if the bytes end inside a value.
   */
  read<K extends keyof Row & string>(rows: Uint8Array, columns: readonly K[]): Generator<Pick<Row, K>>
  /** Reads rows that contain these columns in this order, each into the fields of `row`. */
  reader<K extends keyof Row & string>(columns: readonly K[]): (from: RowReader, row: Pick<Row, K>) => void
  /** The offset of a column in its row. Throws TypeError if an earlier column has no fixed size. */
  offsetOf(column: keyof Row & string): number
  /** Every row of `rows` with all columns. */
  readAll(rows: Uint8Array): Generator<Pick<Row, keyof Row & string>>
}

export function rowFormat<Row extends object>(codecs: Codecs<Row>): RowFormat<Row> {
  const columns = Object.keys(codecs) as (keyof Row & string)[]
  const inOrder = columns.map((column) => codecs[column])
  function reader<K extends keyof Row & string>(
    wanted: readonly K[],
  ): (from: RowReader, row: Pick<Row, K>) => void {
    const chosen = wanted.map((column) => codecs[column])
    return (from, row) => {
      for (let i = 0; i < wanted.length; i++) row[wanted[i]!] = chosen[i]!.read(from)
    }
  }
  function* read<K extends keyof Row & string>(
    rows: Uint8Array,
    wanted: readonly K[],
  ): Generator<Pick<Row, K>> {
    const from = new RowReader(rows)
    const readInto = reader(wanted)
    // V8 stores copies of an object that already has all properties as plain records. If the properties were added
    // one by one to each row, the row would become a hash table, which takes three times as long to fill and to read.
    const blank = JSON.parse(`{${wanted.map((column) => `"${column}":null`).join()}}`) as Pick<Row, K>
    while (!from.done) {
      const row = { ...blank }
      readInto(from, row)
      yield row
    }
  }
  return {
    columns,
    write: (out, row) => {
      for (let i = 0; i < columns.length; i++) inOrder[i]!.write(out, row[columns[i]!])
    },
    read,
    reader,
    offsetOf: (column) =>
      columns.slice(0, columns.indexOf(column)).reduce((offset, before) => {
        const { size } = codecs[before]
        if (size === undefined) throw new TypeError(`column ${before} has no fixed size`)
        return offset + size
      }, 0),
    readAll: (rows) => read(rows, columns),
  }
}
