import { it } from 'vitest'
import { campaign } from '../../support/campaign.ts'
import { checkFilledReads } from '../../support/stores/clickhouse/filled-reads.ts'

const RUNS = campaign(1_000_000)

it(`reads a page, a TraceRun and a trace of ${RUNS} runs as fast as of a small store`, async () => {
  await checkFilledReads(RUNS, 6)
})
