import { it } from 'vitest'
import { checkFilledReads } from '../support/filled-reads.ts'

it('reads a page, a TraceRun and a trace of a filled store as fast as of a small one', async () => {
  await checkFilledReads(20_000, 6)
}, 60_000)
