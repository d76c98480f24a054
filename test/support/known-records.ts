import { pick, type Random } from './seeded-random.ts'

/** Ids of one thing, by the names of the fields that held them, such as `thread_id`. */
export type KnownRecord = Readonly<Record<string, string>>

/** The things that a server has answered with, so that later requests can name them. */
export interface KnownRecords {
  /** Keeps the ids of every object in a JSON answer; `path` is the operation's, as documented. */
  learn(path: string, answer: unknown): void
  /** One thing that has all of `names`, seen at the path's collection if there is one. */
  find(random: Random, path: string, names: readonly string[]): KnownRecord | undefined
  /** Any value that was seen under the name. */
  value(random: Random, name: string): string | undefined
}

const PER_COLLECTION = 300
const ID_NAME = /^(?:id|\w+_id)$/
const MAX_OBJECTS = 200

/** Records made of `names` are known from the start, in every collection. */
export function createKnownRecords(names: KnownRecord): KnownRecords {
  const byCollection = new Map<string, KnownRecord[]>()
  const byName = new Map<string, string[]>(Object.entries(names).map(([name, value]) => [name, [value]]))
  return {
    learn(path, answer) {
      const collection = collectionOf(path)
      const known = byCollection.get(collection) ?? []
      byCollection.set(collection, known)
      for (const record of recordsIn(answer)) {
        keep(known, record)
        for (const [name, value] of Object.entries(record)) {
          const values = byName.get(name) ?? []
          byName.set(name, values)
          keep(values, value)
        }
      }
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

/** The oldest go first. */
function keep<T>(values: T[], value: T): void {
  values.push(value)
  if (values.length > PER_COLLECTION) values.shift()
}

/** `/threads/{thread_id}/runs` and `/threads` are one collection: what a path begins with. */
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
    const ids = entries.filter(([name, id]) => ID_NAME.test(name) && typeof id === 'string')
    if (ids.length > 0) found.push(Object.fromEntries(ids) as KnownRecord)
    waiting.push(...entries.map(([, inner]) => inner as unknown))
  }
  return found
}
