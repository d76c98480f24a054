/** What counts are kept ready by. */
export type RollupUnit = 'hour' | 'day'

/** The counts that are kept ready per hour and day, so that a query need not look at traces. */
export interface UsageRollups {
  /**
   * Computes again the hours or days that have changed since they were last computed and have been quiet for a while,
   * and tells how many it did and how many changed ones are left, for now or because they are not quiet yet. Any
   * number of processes may do so at once.
   */
  refresh(unit: RollupUnit, signal?: AbortSignal): Promise<{ done: number; left: number }>
  /** Computes all of them again, from the counted traces. Changes no count. */
  rebuild(signal?: AbortSignal): Promise<void>
}
