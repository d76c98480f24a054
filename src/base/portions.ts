/** A stored record with the size of its texts. */
export interface Sized {
  bytes: number
}

/** Maximum bytes of stored text on a page of a list; a larger first record is still returned. */
export const PAGE_BYTES = 32 << 20
/** Maximum bytes that one statement of a list reads, which takes some milliseconds; a larger record is read alone. */
const PORTION_BYTES = 1 << 20
const PORTION_ROWS = 128

/** The longest prefix of `keys` that fits into a page; at least one key. */
export function fitting<Key extends Sized>(keys: readonly Key[], max_bytes = PAGE_BYTES): Key[] {
  let bytes = 0
  const end = keys.findIndex((key, index) => {
    bytes += key.bytes
    return index > 0 && bytes > max_bytes
  })
  return end < 0 ? [...keys] : keys.slice(0, end)
}

/** Splits `keys` into portions of one statement each; yields to the event loop between them. */
export async function* portionsOf<Key extends Sized>(keys: readonly Key[]): AsyncGenerator<Key[]> {
  let portion: Key[] = []
  let bytes = 0
  for (const key of keys) {
    if (portion.length > 0 && (bytes + key.bytes > PORTION_BYTES || portion.length === PORTION_ROWS)) {
      yield portion
      await new Promise((resume) => setImmediate(resume))
      portion = []
      bytes = 0
    }
    portion.push(key)
    bytes += key.bytes
  }
  if (portion.length > 0) yield portion
}
