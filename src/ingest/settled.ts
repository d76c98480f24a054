import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import type { IngestLog } from './log/ingest-log.ts'
import type { StoreWriter } from './store/store-writer.ts'

/** Milliseconds for which a caller waits for the store: while it stores, however slowly, and while it refuses. */
export interface Patience {
  readonly slow: number
  readonly away: number
}

/** For requests that fail without the store. Python's client and many proxies end a request after 60 s. */
export const PATIENT: Patience = { slow: 50_000, away: 8_000 }
/** For callers that can go on without the store. */
export const BRIEF: Patience = { slow: 8_000, away: 0 }

const POLL_MS = 10

interface Storing {
  log: Pick<IngestLog, 'stats'>
  writer: Pick<StoreWriter, 'progress'>
  clock: Clock
}

/**
 * Resolves when everything acknowledged before is stored and can be read. @throws AppError store_unavailable when that
 * takes longer than `patience`
 */
export async function settled({ log, writer, clock }: Storing, { slow, away }: Patience): Promise<void> {
  const { frames: acknowledged } = log.stats()
  const began = clock.steady()
  let upAt = began
  const isStored = (): boolean => {
    const { frames, frames_waiting } = log.stats()
    return frames - frames_waiting >= acknowledged
  }
  while (!isStored()) {
    const now = clock.steady()
    if (writer.progress().up) upAt = now
    if (now - began > slow || now - upAt > away) throw new AppError('store_unavailable')
    await delay(POLL_MS)
  }
}
