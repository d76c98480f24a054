import { expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { createLogger } from '../../base/log.ts'
import type { ClickHouse } from './connect.ts'
import { startRepair } from './repair-double-rows.ts'
import { startIndexingWords } from './search/index-words.ts'

const logger = createLogger({ level: 'silent' })

/** A store that is away for the first statement, and has nothing to do afterwards. */
function awayAtFirst(): { clickhouse: ClickHouse; askedAgain: Promise<void> } {
  let asked = 0
  const { promise: askedAgain, resolve } = Promise.withResolvers<void>()
  const rows = async (): Promise<unknown[]> => {
    asked += 1
    if (asked === 1) throw new AppError('store_unavailable')
    if (asked === 4) resolve()
    return [{ rows: 0, parts: 0, newest: 0, oldest: 0, running: 0, failed: '' }]
  }
  const clickhouse = { rows, database: 'weir', layout: { kind: 'single' } } as unknown as ClickHouse
  return { clickhouse, askedAgain }
}

it('repairs of stored rows go on when the store is back', async () => {
  const { clickhouse, askedAgain } = awayAtFirst()
  const stop = startRepair(clickhouse, Promise.resolve(), logger, 1)
  await expect(askedAgain).resolves.toBeUndefined()
  await stop()
})

it('indexes are built when the store is back', async () => {
  const { clickhouse, askedAgain } = awayAtFirst()
  const stop = startIndexingWords(clickhouse, Promise.resolve(), logger, 1)
  await expect(askedAgain).resolves.toBeUndefined()
  await stop()
})
