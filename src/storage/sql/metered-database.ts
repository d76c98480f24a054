import type { Database, SqlSession, SqlValue } from './database.ts'

/** A database whose statements are counted for one piece of work at a time. */
export interface MeteredDatabase {
  readonly database: Database
  /** The result of `work`, or null when it took more than its allowance before its last statement. */
  within<T>(allowance: Allowance | null, work: () => Promise<T>): Promise<T | null>
}

/** What work may take. */
export interface Allowance {
  /** Milliseconds of the thread's processor: on a busy machine short work takes longer, and yet no more of it. */
  cpu_ms: number
  /** Milliseconds since it began. */
  wall_ms: number
  /** Of text that it reads. */
  bytes: number
}

/** Thrown through the work that has used up its allowance. */
class UsedUp extends Error {}

function textLength(rows: readonly unknown[]): number {
  let length = 0
  for (const row of rows) {
    for (const value of Object.values(row as object)) if (typeof value === 'string') length += value.length
  }
  return length
}

/** Meters the statements outside of transactions. */
export function meteredDatabase(database: Database): MeteredDatabase {
  let allowance: Allowance | null = null
  let began = 0
  let cpuBegan = process.threadCpuUsage()
  let bytes = 0

  const isUsedUp = ({ cpu_ms, wall_ms, bytes: most }: Allowance): boolean => {
    const { user, system } = process.threadCpuUsage(cpuBegan)
    return bytes > most || (user + system) / 1000 > cpu_ms || performance.now() - began > wall_ms
  }

  const query: SqlSession['query'] = async <Row>(sql: string, params?: readonly SqlValue[]) => {
    if (allowance !== null && isUsedUp(allowance)) throw new UsedUp()
    const rows = await database.query<Row>(sql, params)
    if (allowance !== null) bytes += textLength(rows)
    return rows
  }
  return {
    database: { ...database, query },
    async within(given, work) {
      allowance = given
      began = performance.now()
      cpuBegan = process.threadCpuUsage()
      bytes = 0
      try {
        return await work()
      } catch (thrown) {
        if (thrown instanceof UsedUp) return null
        throw thrown
      } finally {
        allowance = null
      }
    },
  }
}
