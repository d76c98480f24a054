import { it } from 'vitest'
import { checkFilledReads } from '../../support/stores/clickhouse/filled-reads.ts'

it('reads a page, a TraceRun and a trace of a million as fast as of a small store', async () => {
  await checkFilledReads(1_000_000, 6)
})
