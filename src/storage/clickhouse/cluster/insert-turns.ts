/**
 * Lets one insert at a time into each table. A cluster of replicas with sequential inserts refuses every other insert
 * into a table meanwhile (docs/adr/0054).
 */
export interface InsertTurns {
  /** Calls `insert` when no other insert into the table is running, and waits for it. */
  take<T>(table: string, insert: () => Promise<T>): Promise<T>
}

/** Resolves when this server alone may insert into the table; the result ends that. Neither rejects. */
export type LockTable = (table: string) => Promise<() => Promise<void>>

/** Turns of this process; `lock` extends them to other servers. */
export function createInsertTurns(lock: LockTable = async () => async () => undefined): InsertTurns {
  /** The end of the last insert into each table. */
  const last = new Map<string, Promise<unknown>>()

  async function alone<T>(table: string, insert: () => Promise<T>): Promise<T> {
    const unlock = await lock(table)
    try {
      return await insert()
    } finally {
      await unlock()
    }
  }

  return {
    take(table, insert) {
      const turn = (last.get(table) ?? Promise.resolve()).then(() => alone(table, insert))
      const end = turn.catch(() => undefined)
      last.set(table, end)
      return turn
    },
  }
}

const INSERTED_TABLE = /^INSERT INTO (\w+)/

/** The table into which a statement inserts; undefined for other statements. */
export function insertedTable(sql: string): string | undefined {
  return INSERTED_TABLE.exec(sql)?.[1]
}
