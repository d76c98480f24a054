import { afterEach, expect, it } from 'vitest'
import { type AppFixture, startApp, WORKSPACE } from '../../../../../test/support/servers/app-fixture.ts'
import { NOW } from '../../../../../test/support/faults/test-clock.ts'
import type { RunFigures } from '../../../../ingest/store/stats-store.ts'
import { jsonBody } from '../../../../../test/support/servers/weir-process.ts'

let fixture: AppFixture
afterEach(() => fixture.stop())

const FIGURES: RunFigures = {
  group: null,
  bucket: null,
  run_count: 3,
  last_start: 1_000_000,
  error_rate: 0.5,
  streaming_rate: null,
  latency: [1, 2],
  first_token: [null, null],
  latency_p90: 1.8,
  first_token_p90: null,
  latency_p95: 1.9,
  first_token_p95: null,
  latency_histogram: new Map([
    [2, 1],
    [0.001, 2],
  ]),
  first_token_histogram: undefined,
  checks: { llm_runs: 3, all: 1, run_type: 3, format: 2, model: 2, usage: 1 },
  prompt_tokens: 10,
  completion_tokens: 4,
  prompt_cost: '0.1',
  completion_cost: null,
  total_cost: '0.1',
  unpriced_runs: 2,
  prompt_tokens_each: [5, 6],
  completion_tokens_each: [2, 2],
  total_tokens_each: [7, 8],
  total_cost_each: [0.000_000_2, 100],
  prompt_token_details: { cache_read: 1 },
  completion_token_details: {},
  prompt_cost_details: {},
  completion_cost_details: {},
}

/** Posts each body; returns the statuses and answers, and the queries to the store. */
async function post(bodies: readonly object[], figures: readonly RunFigures[]) {
  const asked: unknown[] = []
  fixture = await startApp({
    reads: {
      stats: async (workspace_id, query) => {
        asked.push([workspace_id, query])
        return { is_exact: true, figures: [...figures], feedback: undefined }
      },
    },
  })
  const answers: { status: number; json: unknown }[] = []
  for (const body of bodies) {
    const answer = await fixture.request('/api/v1/runs/stats', jsonBody('POST', body))
    answers.push({ status: answer.status, json: await answer.json() })
  }
  return { asked, answers }
}

it('returns figures of all under the names of LangSmith', async () => {
  const { asked, answers } = await post([{ is_root: true, session: null, group_by: null }], [FIGURES])
  expect(asked).toEqual([[WORKSPACE, { is_root: true }]])
  expect(answers).toMatchObject([
    {
      status: 200,
      json: {
        run_count: 3,
        latency_p50: 1,
        latency_p90: 1.8,
        latency_p95: 1.9,
        latency_p99: 2,
        latency_histogram: [
          { from: 0.001, run_count: 2 },
          { from: 2, run_count: 1 },
        ],
        first_token_histogram: null,
        checks: { llm_runs: 3, all: 1, usage: 1 },
        total_tokens: 14,
        median_tokens: 7,
        tokens_p99: 8,
        cost_p50: '0.0000002',
        cost_p99: '100',
        last_run_start_time: '1970-01-01T00:00:01.000Z',
        percentiles: 'exact',
      },
    },
  ])
})

it('returns groups by their values, and buckets with both', async () => {
  const group_by = { attribute: 'metadata', path: 'env' }
  const start_time = new Date(NOW - 3_600_000).toISOString()
  const { asked, answers } = await post(
    [{ group_by }, { group_by: { ...group_by, max_groups: 7 }, interval: '5m', start_time }],
    [{ ...FIGURES, group: 'prod', bucket: 2_000_000 }],
  )
  expect(asked).toMatchObject([
    [WORKSPACE, { group_by: { by: 'metadata', key: 'env', max_groups: 5 } }],
    [WORKSPACE, { group_by: { max_groups: 7 }, interval: 300e6, end_time: NOW * 1000 }],
  ])
  expect(answers).toMatchObject([
    { json: { prod: { run_count: 3 } } },
    {
      json: {
        interval_seconds: 300,
        buckets: [{ group: 'prod', start_time: '1970-01-01T00:00:02.000Z', figures: { run_count: 3 } }],
      },
    },
  ])
})

it('refuses a grouping without its key and buckets without bounds', async () => {
  const { asked, answers } = await post(
    [
      { group_by: { attribute: 'metadata' } },
      { group_by: { attribute: 'colour' } },
      { interval: '1h' },
      { interval: 'fast' },
      { interval: '1s', start_time: new Date(NOW - 3_600_000).toISOString() },
    ],
    [FIGURES],
  )
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422])
  expect(asked).toEqual([])
})

it('selects roots as lists do, and refuses other places', async () => {
  const bodies = [{ execution_order: 1 }, { is_root: 1 }, { is_root: 0 }, { execution_order: 2 }]
  const { asked, answers } = await post(bodies, [FIGURES])
  expect(asked).toEqual([
    [WORKSPACE, { is_root: true }],
    [WORKSPACE, { is_root: true }],
    [WORKSPACE, { is_root: false }],
  ])
  expect(answers.at(-1)).toMatchObject({ status: 422, json: { code: 'invalid_request' } })
})
