import { expect, it } from 'vitest'
import type { ClickHouse } from '../connect.ts'
import { readingStats } from './run-stats.ts'

const WORKSPACE = '00000000-0000-0000-0000-000000000001'

/** A ClickHouse that counts one TraceRun and has no rows afterwards. */
const emptied = {
  rows: (sql: string) => Promise.resolve(sql.includes('count() AS found FROM runs') ? [{ found: 1 }] : []),
} as Pick<ClickHouse, 'rows'> as ClickHouse

it('answers zeros when the TraceRuns are deleted between the count and the figures', async () => {
  const { runStats } = readingStats(emptied)
  expect(await runStats(WORKSPACE, {})).toMatchObject({ figures: [{ run_count: 0, prompt_tokens: 0 }] })
  expect(await runStats(WORKSPACE, { interval: 60_000_000 })).toMatchObject({ figures: [] })
})
