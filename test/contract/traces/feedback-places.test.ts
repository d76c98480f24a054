import { expect, it } from 'vitest'
import type { FeedbackQuery } from '../../../src/ingest/store/trace-store.ts'
import { readFeedbackPage } from '../../../src/query/feedback-page.ts'
import { FEEDBACK_ROWS } from '../../../src/trace/rows/feedback.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import {
  type TestTraceStore,
  START,
  WORKSPACE,
  idOf,
  useTraceStore,
} from '../../support/stores/clickhouse/trace-store.ts'

const COUNT = 1_200
const ALL: FeedbackQuery = {
  run_ids: [idOf(1)],
  project_ids: [],
  keys: [],
  sources: [],
  limit: 100,
  offset: 0,
}

let test: TestTraceStore
useTraceStore(async (store) => {
  test = store
  const writer = new RowWriter()
  for (let n = 0; n < COUNT; n++) {
    const body = {
      n,
      key: n % 2 === 0 ? 'even' : "o'dd",
      // Only the oldest feedback has the source `model`.
      feedback_source: { type: n === 0 ? 'model' : 'api' },
      created_at: new Date(1_780_000_000_000 + n * 1000).toISOString(),
    }
    FEEDBACK_ROWS.write(writer, {
      workspace_id: WORKSPACE,
      run_id: idOf(1),
      feedback_id: idOf(n + 10),
      trace_id: idOf(1),
      received_at: START / 1000,
      body: JSON.stringify(body),
    })
  }
  await test.store.insert('feedback', [writer.finish()])
})

async function read(query: Partial<FeedbackQuery>) {
  const page = await readFeedbackPage(test.store, WORKSPACE, { ...ALL, ...query })
  const records = JSON.parse(page.body.toString()) as { n: number }[]
  return { numbers: records.map(({ n }) => n), more: page.more }
}

it('reads every record of a run, however many there are, newest first', async () => {
  const seen: number[] = []
  for (let more = true; more && seen.length <= COUNT; ) {
    const page = await read({ offset: seen.length })
    seen.push(...page.numbers)
    more = page.more
  }
  expect(seen).toEqual(Array.from({ length: COUNT }, (_, n) => COUNT - 1 - n))
})

it('finds keys and sources among all records', async () => {
  expect(await read({ sources: ['model'] })).toEqual({ numbers: [0], more: false })
  expect(await read({ keys: ["o'dd"], limit: 2 })).toEqual({ numbers: [1199, 1197], more: true })
  expect(await read({ keys: ['even', "o'dd"], limit: 1, offset: 1199 })).toEqual({
    numbers: [0],
    more: false,
  })
  expect(await read({ keys: ['none'] })).toEqual({ numbers: [], more: false })
})

it('orders records by the time of their creation, in whatever form it was sent, else by their receipt', async () => {
  const run_id = idOf(2)
  const times = [
    '2026-11-20T10:30:00+02:00',
    '2026-11-20T09:00:00Z',
    undefined,
    '2026-11-20T11:00:00.5+00:00',
    '2026-11-20 12:00:00',
  ]
  const writer = new RowWriter()
  for (const [n, created_at] of times.entries()) {
    const body = JSON.stringify({ n, key: 'k', ...(created_at !== undefined && { created_at }) })
    const ids = { workspace_id: WORKSPACE, run_id, feedback_id: idOf(9_000 - n), trace_id: run_id }
    FEEDBACK_ROWS.write(writer, { ...ids, received_at: Date.parse('2026-11-20T10:00:00Z'), body })
  }
  await test.store.insert('feedback', [writer.finish()])
  expect((await read({ run_ids: [run_id] })).numbers).toEqual([4, 3, 2, 1, 0])
})
