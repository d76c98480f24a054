import { expect, it } from 'vitest'
import type { ClickHouse, StatementOptions } from '../connect.ts'
import { readingStats } from './run-stats.ts'

const WORKSPACE = '00000000-0000-0000-0000-000000000001'

const NONE: [] = []
const FIGURES = {
  grp: '',
  bucket: 0,
  run_count: 2_000_001,
  latency: [1, 2],
  first_token: NONE,
  prompt_tokens_each: NONE,
  completion_tokens_each: NONE,
  total_tokens_each: NONE,
  total_cost_each: NONE,
}

/** A ClickHouse that counts one TraceRun and then returns no rows, as if it was deleted in between. */
const emptied = {
  rows: (sql: string) => Promise.resolve(sql.includes('count() AS found FROM runs') ? [{ found: 1 }] : []),
} as Pick<ClickHouse, 'rows'> as ClickHouse

it('answers zeros when the TraceRuns are deleted between the count and the figures', async () => {
  const { runStats } = readingStats(emptied)
  expect(await runStats(WORKSPACE, {})).toMatchObject({ figures: [{ run_count: 0, prompt_tokens: 0 }] })
  expect(await runStats(WORKSPACE, { interval: 60_000_000 })).toMatchObject({ figures: [] })
})

it('stops exact figures and computes sketches when it has counted too many TraceRuns', async () => {
  const stopped: (boolean | undefined)[] = []
  const large = {
    async rows(sql: string, { signal }: StatementOptions = {}) {
      if (sql.includes('count() AS found FROM runs')) return [{ found: 2_000_001 }]
      if (sql.includes('quantilesTDigestIf')) return [FIGURES]
      if (!sql.includes('quantilesExactInclusiveIf')) return []
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      stopped.push(signal?.aborted)
      throw signal?.reason
    },
  } as Pick<ClickHouse, 'rows'> as ClickHouse
  expect(await readingStats(large).runStats(WORKSPACE, {})).toMatchObject({
    is_exact: false,
    figures: [{ run_count: 2_000_001, latency: [1, 2] }],
  })
  expect(stopped).toEqual([true])
})
