import { startWhenReady } from '../../../base/background/background.ts'
import { toAppError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/log.ts'
import { pause } from '../../../base/pause.ts'
import type { ClickHouse } from '../connect.ts'
import { markForeignDeletions } from './deleted-hours.ts'
import { fillHourChanges } from './fill-hour-changes.ts'
import { MAX_DAYS, rollDays } from './roll-days.ts'
import { MAX_HOURS, rollHours } from './roll-hours.ts'

const INTERVAL_MS = 10_000
/** All hours are looked at this often, in between those that changed recently: a store has hours of years. */
const ALL_MS = 3_600_000

/**
 * Keeps the figures of hours up to date in the background once the store is `ready`; returns the function that stops
 * it. After a failure it tries again: meanwhile reads compute what is not kept.
 */
export function startKeepingHours(
  clickhouse: ClickHouse,
  ready: Promise<void>,
  logger: Logger,
  intervalMs = INTERVAL_MS,
): () => Promise<void> {
  return startWhenReady(ready, async (signal) => {
    let lookedAtAll = Number.NEGATIVE_INFINITY
    while (!signal.aborted) {
      try {
        await fillHourChanges(clickhouse, signal, logger)
        await markForeignDeletions(clickhouse)
        const began = performance.now()
        const among = began - lookedAtAll < ALL_MS ? 'recent' : 'all'
        const [hours, days] = await rollAmong(clickhouse, signal, among)
        if (among === 'all' && hours < MAX_HOURS && days < MAX_DAYS) lookedAtAll = began
      } catch (thrown) {
        const { code, retryable } = toAppError(thrown)
        if (!signal.aborted)
          logger[retryable ? 'info' : 'error']({ err: thrown, code }, 'figures of hours are not kept now')
      }
      await pause(intervalMs, signal)
    }
  })
}

/** The numbers of due hours and days. Days do not wait for hours that cannot be computed. */
async function rollAmong(
  clickhouse: ClickHouse,
  signal: AbortSignal,
  among: 'all' | 'recent',
): Promise<[hours: number, days: number]> {
  let [hours, days] = [MAX_HOURS, 0]
  try {
    hours = await rollHours(clickhouse, signal, among)
  } finally {
    if (!signal.aborted && (hours > 0 || among === 'all')) days = await rollDays(clickhouse, signal, among)
  }
  return [hours, days]
}
