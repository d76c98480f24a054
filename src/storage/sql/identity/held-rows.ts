import type { Clock } from '../../../base/clock.ts'

/** Rows that are read often and change rarely. */
export interface HeldRows<Rows> {
  /** Synchronous if nothing must be read. Old rows stay in use while the database cannot be read. */
  read(): Rows | Promise<Rows>
  /** Makes the next read ask the database. Also to be called after a failed change, which may have been stored. */
  changed(): void
}

/** Maximum delay until rows that another process has changed are used. */
const MAX_AGE_MS = 5_000

export function holdRows<Rows>(load: () => Promise<Rows>, clock: Clock): HeldRows<Rows> {
  let held: { rows: Rows; until: number } | undefined
  let changes = 0

  const loadAgain = async (): Promise<Rows> => {
    const before = changes
    const until = clock.steady() + MAX_AGE_MS
    try {
      const rows = await load()
      // Rows that were read before a change must not be held after it.
      if (before === changes) held = { rows, until }
      return rows
    } catch (error) {
      if (held === undefined) throw error
      if (before === changes) held.until = until
      return held.rows
    }
  }

  return {
    read: () => (held !== undefined && clock.steady() < held.until ? held.rows : loadAgain()),
    changed() {
      changes++
      if (held !== undefined) held.until = 0
    },
  }
}
