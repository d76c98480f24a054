import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { KeepDays } from '../../trace/rows/kept-fragments.ts'
import type { DeletionStore } from '../deletion/deletion-store.ts'

/** Time for which the retention of projects is remembered. Until then fragments are filed by the former one. */
const REMEMBERED_MS = 10_000

export interface KeepDaysDeps {
  deletions: Pick<DeletionStore, 'expiring'>
  clock: Clock
  logger: Logger
}

/**
 * Reads the retention of projects, by which fragments are filed. While it cannot be read, the last one that was read is
 * returned: it decides only how the space of expired fragments is freed.
 */
export function createKeepDays({ deletions, clock, logger }: KeepDaysDeps): () => Promise<KeepDays> {
  let known: KeepDays = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  return async () => {
    const now = clock.now()
    if (Math.abs(now - readAt) < REMEMBERED_MS) return known
    readAt = now
    try {
      known = new Map((await deletions.expiring()).map(({ project_id, days }) => [project_id, days]))
    } catch (error) {
      logger.warn(
        { err: error },
        'the retention of projects cannot be read, so fragments are filed by the last one',
      )
    }
    return known
  }
}
