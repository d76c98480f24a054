export type RollupUnit = 'hour' | 'day'

/** Precomputed counts per hour and day, so that a query need not read traces. */
export interface UsageRollups {
  /**
   * Computes the hours or days that have changed since they were last computed. Changes of the last seconds are left
   * for a later call. Returns the numbers of computed and of remaining ones. Several processes may call this at the
   * same time.
   */
  refresh(unit: RollupUnit, signal?: AbortSignal): Promise<{ done: number; left: number }>
  /** Computes all hours and days again from the counted traces. The counts stay the same. */
  rebuild(signal?: AbortSignal): Promise<void>
}
