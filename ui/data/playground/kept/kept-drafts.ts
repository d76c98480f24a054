import { bytesOf, type KeptDraft, type KeptEntry, tooMany } from './bounds.ts'

/** Drafts in this browser. They may contain pictures, for which `localStorage` is too small. */
export interface KeptDrafts {
  /** Undefined without a stored draft, or when the browser stores nothing. */
  read(key: string): Promise<KeptDraft | undefined>
  /** Resolves with true if the draft was stored. */
  write(key: string, kept: KeptDraft): Promise<boolean>
  remove(key: string): Promise<void>
}

/** The database, which is deleted when the user signs out (data/session.ts). */
const DATABASE = 'weir-playground'
const VERSION = 2
const DRAFTS = 'drafts'
/** The object store with the entry of each draft. Lists read the entries, because drafts are large. */
const ENTRIES = 'entries'

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('the browser stores nothing')))
  })
}

/** Drafts of the first version had no entries: they are deleted. */
function upgrade(database: IDBDatabase): void {
  for (const name of [...database.objectStoreNames]) database.deleteObjectStore(name)
  database.createObjectStore(DRAFTS)
  database.createObjectStore(ENTRIES, { keyPath: 'key' })
}

/** Each use opens and closes the database, so that signing out in another tab can delete it. */
async function inStores<T>(
  mode: IDBTransactionMode,
  use: (drafts: IDBObjectStore, entries: IDBObjectStore) => Promise<T>,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, VERSION)
  opening.addEventListener('upgradeneeded', () => upgrade(opening.result))
  const database = await done(opening)
  try {
    const transaction = database.transaction([DRAFTS, ENTRIES], mode)
    return await use(transaction.objectStore(DRAFTS), transaction.objectStore(ENTRIES))
  } finally {
    database.close()
  }
}

export function createKeptDrafts(): KeptDrafts {
  const drop = async (keys: readonly string[], drafts: IDBObjectStore, entries: IDBObjectStore) => {
    for (const key of keys) {
      await done(drafts.delete(key))
      await done(entries.delete(key))
    }
  }
  return {
    async read(key) {
      try {
        return await inStores('readwrite', async (drafts, entries) => {
          await drop(tooMany(await done<KeptEntry[]>(entries.getAll()), Date.now()), drafts, entries)
          return await done<KeptDraft | undefined>(drafts.get(key))
        })
      } catch {
        return undefined
      }
    },
    async write(key, kept) {
      const entry: KeptEntry = { key, at: Date.now(), bytes: bytesOf(kept) }
      try {
        await inStores('readwrite', async (drafts, entries) => {
          await done(drafts.put(kept, key))
          await done(entries.put(entry))
          await drop(tooMany(await done<KeptEntry[]>(entries.getAll()), entry.at), drafts, entries)
        })
        return true
      } catch {
        return false
      }
    },
    remove: (key) =>
      inStores('readwrite', (drafts, entries) => drop([key], drafts, entries)).catch(() => undefined),
  }
}
