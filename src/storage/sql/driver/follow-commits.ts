import type { Database, TxSession } from './database.ts'

/**
 * The database, whose sessions keep notes: `onCommit` gets those of each transaction right after its commit, in the order
 * in which they were written. It must not throw.
 */
export function followCommits(database: Database, onCommit: (notes: readonly unknown[]) => void): Database {
  return {
    ...database,
    async tx<T>(lock: string, work: (session: TxSession) => Promise<T>, bytes?: number): Promise<T> {
      let notes: unknown[] = []
      const result = await database.tx(
        lock,
        (session) => {
          // The work may run again.
          notes = []
          return work({ ...session, note: (value) => void notes.push(value) })
        },
        bytes,
      )
      if (notes.length > 0) onCommit(notes)
      return result
    },
  }
}
