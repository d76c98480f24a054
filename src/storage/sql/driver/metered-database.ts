import type { Database, SqlSession, SqlValue } from './database.ts'

/** A database with limits on the resources of the work that uses it; one piece of work at a time. */
export interface MeteredDatabase {
  readonly database: Database
  /** Returns the result of `work`, or null if `work` exceeded its allowance before its last statement. */
  within<T>(allowance: Allowance | null, work: () => Promise<T>): Promise<T | null>
}

export interface Allowance {
  /** CPU time of the thread in milliseconds, which does not depend on the load of the machine. */
  cpu_ms: number
  /** Milliseconds since the start. */
  wall_ms: number
  /** Bytes of text that the statements return. */
  bytes: number
}

/** Thrown to end work that exceeds its allowance. */
class UsedUp extends Error {}

function textLength(rows: readonly unknown[]): number {
  let length = 0
  for (const row of rows) {
    for (const value of Object.values(row as object)) if (typeof value === 'string') length += value.length
  }
  return length
}

/** Makes a metered database. Only statements outside of transactions are measured. */
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
