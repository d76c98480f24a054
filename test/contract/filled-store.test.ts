import { it } from 'vitest'
import { checkFilledReads } from '../support/filled-reads.ts'

it('reads a page, a TraceRun and a trace of a filled store at the cost of a small one', async () => {
  await checkFilledReads(20_000, 6)
})
