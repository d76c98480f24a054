/** The newest of many values, and how many there were. */
export interface EventTail {
  count: number
  /** In order of arrival. */
  newest: readonly unknown[]
}

/** Keeps the newest `max` values. */
export function createEventTail(max: number) {
  let count = 0
  let kept: unknown[] = []
  return {
    add(value: unknown): void {
      count += 1
      kept.push(value)
      // Cuts the list seldom, since cutting copies it.
      if (kept.length >= 2 * max) kept = kept.slice(-max)
    },
    clear(): void {
      count = 0
      kept = []
    },
    snapshot: (): EventTail => ({ count, newest: kept.slice(-max) }),
  }
}
