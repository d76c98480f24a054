import { it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { checkFilledReads } from '../../support/stores/clickhouse/filled-reads.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const RUNS = campaign(1_000_000)

it(`reads a page, a TraceRun and a trace of ${RUNS} runs as fast as of a small store`, async () => {
  await checkFilledReads(RUNS, 6)
})
