/** Types of fields in Thrift's compact protocol. */
const TYPE = { i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const
/** Most elements of a list whose size is in the byte of its type. */
const SHORT_LIST = 14

type Field = readonly [id: number, type: number, bytes: Uint8Array]

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn)
    if (rest < 0x80n) return Buffer.from([...bytes, low])
    bytes.push(low | 0x80)
  }
}

/** Numbers are written as 0, -1, 1, -2, …, so that small ones are short. */
const zigzag = (value: number): Buffer => {
  const whole = BigInt(value)
  return varint(whole >= 0n ? whole * 2n : whole * -2n - 1n)
}

function listHead(type: number, length: number): Buffer {
  if (length <= SHORT_LIST) return Buffer.from([(length << 4) | type])
  return Buffer.concat([Buffer.from([0xf0 | type]), varint(BigInt(length))])
}

const withLength = (bytes: Uint8Array): Buffer => Buffer.concat([varint(BigInt(bytes.length)), bytes])

export const i32 = (id: number, value: number): Field => [id, TYPE.i32, zigzag(value)]
export const i64 = (id: number, value: number): Field => [id, TYPE.i64, zigzag(value)]
export const stringField = (id: number, value: string): Field => [
  id,
  TYPE.binary,
  withLength(Buffer.from(value)),
]
export const inner = (id: number, struct: Uint8Array): Field => [id, TYPE.struct, struct]

export const numbers = (id: number, values: readonly number[]): Field => [
  id,
  TYPE.list,
  Buffer.concat([listHead(TYPE.i32, values.length), ...values.map(zigzag)]),
]
export const texts = (id: number, values: readonly string[]): Field => [
  id,
  TYPE.list,
  Buffer.concat([
    listHead(TYPE.binary, values.length),
    ...values.map((value) => withLength(Buffer.from(value))),
  ]),
]
export const structs = (id: number, values: readonly Uint8Array[]): Field => [
  id,
  TYPE.list,
  Buffer.concat([listHead(TYPE.struct, values.length), ...values]),
]

/** A struct; the ids of its fields ascend by at most 15. */
export function struct(fields: readonly Field[]): Buffer {
  let before = 0
  const written = fields.flatMap(([id, type, bytes]) => {
    const head = Buffer.from([((id - before) << 4) | type])
    before = id
    return [head, bytes]
  })
  return Buffer.concat([...written, Buffer.from([0])])
}
