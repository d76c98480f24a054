import { pick, type Random } from '../seeded-random.ts'

/** Ids of one record by field name, such as `thread_id`. */
export type KnownRecord = Readonly<Record<string, string>>

/** Records that were found in responses of a server. Later requests can use their ids. */
export interface KnownRecords {
  /** Stores the ids of every object in a JSON response; `path` is the documented path of the operation. */
  learn(path: string, answer: unknown): void
  /** Stores a record, including fields that are not ids. */
  add(path: string, record: KnownRecord): void
  /** A record that has all of `names`; if there is one in the collection of the path, that one. */
  find(random: Random, path: string, names: readonly string[]): KnownRecord | undefined
  /** Any known value of the field. */
  value(random: Random, name: string): string | undefined
}

const PER_COLLECTION = 300
const ID_NAME = /^(?:id|\w+_id)$/
const MAX_OBJECTS = 200

/** Creates the store of known records. The fields `names` are known in every collection from the start. */
export function createKnownRecords(names: KnownRecord): KnownRecords {
  const byCollection = new Map<string, KnownRecord[]>()
  const byName = new Map<string, string[]>(Object.entries(names).map(([name, value]) => [name, [value]]))
  const add = (path: string, record: KnownRecord): void => {
    const collection = collectionOf(path)
    const known = byCollection.get(collection) ?? []
    byCollection.set(collection, known)
    keep(known, record)
    for (const [name, value] of Object.entries(record)) {
      const values = byName.get(name) ?? []
      byName.set(name, values)
      keep(values, value)
    }
  }
  return {
    add,
    learn(path, answer) {
      for (const record of recordsIn(answer)) add(path, record)
    },
    find(random, path, wanted) {
      const near = byCollection.get(collectionOf(path)) ?? []
      const places = wanted.includes('id') ? [near] : [near, ...byCollection.values()]
      for (const place of places) {
        const fitting = place.filter((record) => wanted.every((name) => name in record))
        if (fitting.length > 0) return pick(random, fitting)
      }
      return undefined
    },
    value(random, name) {
      const values = byName.get(name)
      return values && pick(random, values)
    },
  }
}

/** Adds a value, and drops the oldest values above the limit. */
function keep<T>(values: T[], value: T): void {
  values.push(value)
  if (values.length > PER_COLLECTION) values.shift()
}

/** The first segment of a path: `/threads/{thread_id}/runs` and `/threads` are one collection. */
function collectionOf(path: string): string {
  return path.replace(/\/\{.*$/, '')
}

function recordsIn(answer: unknown): KnownRecord[] {
  const found: KnownRecord[] = []
  const waiting: unknown[] = [answer]
  for (let i = 0; i < waiting.length && i < MAX_OBJECTS; i++) {
    const value = waiting[i]
    if (typeof value !== 'object' || value === null) continue
    const entries = Object.entries(value)
    const ids = entries.filter(([name, id]) => ID_NAME.test(name) && typeof id === 'string' && id !== '')
    if (ids.length > 0) found.push(Object.fromEntries(ids) as KnownRecord)
    waiting.push(...entries.map(([, inner]) => inner as unknown))
  }
  return found
}
