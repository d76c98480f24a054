import type { UsagePeriod } from '../../../usage/counting/claim.ts'
import type { Database } from '../driver/database.ts'

interface Switch {
  at: number
  is_on: number
}

/**
 * Records that counting of traces was switched on or off at `at` (epoch milliseconds), unless it is already in that
 * state. Returns the periods in which traces are counted; while counting is on, the last period is open (`to` is
 * Infinity).
 */
export async function switchUsage(database: Database, is_on: boolean, at: number): Promise<UsagePeriod[]> {
  return await database.tx('usage_switches', async (session) => {
    const changes = await session.query<Switch>('SELECT at, is_on FROM usage_switches ORDER BY at')
    const last = changes.at(-1)
    if ((last?.is_on === 1) !== is_on) {
      const change: Switch = { at: last ? Math.max(at, last.at + 1) : at, is_on: Number(is_on) }
      await session.query('INSERT INTO usage_switches (at, is_on) VALUES (?, ?)', [change.at, change.is_on])
      changes.push(change)
    }
    return toPeriods(changes)
  })
}

/** Converts changes to periods. Changes alternate between on and off; the first one is on. */
function toPeriods(changes: readonly Switch[]): UsagePeriod[] {
  return changes.flatMap(({ at, is_on }, i) =>
    is_on === 1 ? [{ from: at, to: changes[i + 1]?.at ?? Number.POSITIVE_INFINITY }] : [],
  )
}
