/** Something stored whose texts are so many bytes. */
export interface Sized {
  bytes: number
}

/** Bytes of stored text that a page of a list holds at most, unless its first record alone is larger. */
export const PAGE_BYTES = 32 << 20
/** What one statement of a list reads at most, unless one record alone is larger: some milliseconds of work. */
const PORTION_BYTES = 1 << 20
const PORTION_ROWS = 128

/** The first of `keys` that fit into a page together, and at least one. */
export function fitting<Key extends Sized>(keys: readonly Key[], max_bytes = PAGE_BYTES): Key[] {
  let bytes = 0
  const end = keys.findIndex((key, index) => {
    bytes += key.bytes
    return index > 0 && bytes > max_bytes
  })
  return end < 0 ? [...keys] : keys.slice(0, end)
}

/** `keys` in parts that are read in one statement each; others have a turn between them. */
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
