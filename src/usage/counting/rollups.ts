/** The units of precomputed counts. */
export type RollupUnit = 'hour' | 'day'

/** Precomputed counts per hour and day, so that a query need not read traces. */
export interface UsageRollups {
  /**
   * Computes the hours or days again that have changed since they were last computed and have not changed for a while.
   * Returns how many it computed and how many changed ones remain. Any number of processes may do so at once.
   */
  refresh(unit: RollupUnit, signal?: AbortSignal): Promise<{ done: number; left: number }>
  /** Computes all of them again from the counted traces. Changes no count. */
  rebuild(signal?: AbortSignal): Promise<void>
}
