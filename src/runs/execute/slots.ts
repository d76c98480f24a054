import type { Deployment } from '../deployment.ts'

export interface RunSlots {
  /** Takes as many free slots as possible, at most `count`; returns the number. */
  take(deployment: Deployment, count: number): number
  /** Frees slots; returns true if none was free before. */
  give(deployment: Deployment, count: number): boolean
  /** Removes all free slots permanently. */
  close(): void
}

export function createRunSlots(): RunSlots {
  const taken = new Map<string, number>()
  let closed = false
  return {
    take({ deployment_id, concurrency }, count) {
      const now = taken.get(deployment_id) ?? 0
      const given = closed ? 0 : Math.max(0, Math.min(count, concurrency - now))
      taken.set(deployment_id, now + given)
      return given
    },
    give({ deployment_id, concurrency }, count) {
      const now = taken.get(deployment_id) ?? 0
      taken.set(deployment_id, now - count)
      return now >= concurrency && count > 0
    },
    close() {
      closed = true
    },
  }
}
