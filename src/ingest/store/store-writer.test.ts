import { expect, it } from 'vitest'
import { textRecord, useLogBench } from '../../../test/support/stores/ingest-log.ts'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import { startStoreWriter } from './store-writer.ts'

const bench = useLogBench()

/** The lines of the log of a writer that is stopped before its store was reachable. */
async function stoppedWith(records: number): Promise<unknown[]> {
  const log = await bench.open()
  for (let n = 0; n < records; n++) await log.append(textRecord(`record ${n}`))
  const lines: string[] = []
  const writer = startStoreWriter({
    log,
    storeBatch: () => Promise.reject(new Error('not reachable')),
    ready: new Promise(() => undefined),
    logger: createLogger({ destination: { write: (line) => void lines.push(line) } }),
    metrics: createMetrics(),
  })
  await writer.stop(0)
  return lines.map((line): unknown => JSON.parse(line))
}

it('a stop says what stays in the ingest log, because the disk must then be kept', async () => {
  const message = expect.stringContaining('the next start with this DATA_DIR stores it')
  expect(await stoppedWith(3)).toMatchObject([{ level: 'warn', waiting: 6, msg: message }])
})

it('a stop says nothing when all is stored', async () => {
  expect(await stoppedWith(0)).toEqual([])
})
