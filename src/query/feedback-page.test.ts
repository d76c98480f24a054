import { describe, expect, it } from 'vitest'
import type { FeedbackPlace, FeedbackQuery } from '../ingest/store/trace-store.ts'
import { FEEDBACK_FIELDS } from '../trace/rows/feedback.ts'
import { RowWriter } from '../trace/rows/row-binary.ts'
import { readFeedbackPage } from './feedback-page.ts'

const RUN = '018f0000-0000-7000-8000-000000000001'
const WORKSPACE = '018f0000-0000-7000-8000-000000000002'
const MB = 1 << 20
const ALL = { run_ids: [RUN], project_ids: [], keys: [], sources: [], limit: 100, offset: 0 }

/** A store of records, and the size of each of its responses. */
function storeOf(records: (Partial<FeedbackPlace> & { body: string })[]) {
  const answers: number[] = []
  const places = records.map(
    ({ body, ...place }, n): FeedbackPlace => ({
      run_id: RUN,
      feedback_id: `f${n}`,
      bytes: body.length,
      key: 'k',
      source: 'api',
      created_at: `2026-01-${10 + n}`,
      received_at: Date.UTC(2026, 0, 1),
      sent: [...FEEDBACK_FIELDS],
      ...place,
    }),
  )
  return {
    answers,
    feedbackPlaces: async (_workspace: string, { offset, limit }: FeedbackQuery) =>
      places.slice(offset, offset + limit),
    feedbackBodies: async (_workspace: string, asked: readonly FeedbackPlace[]) => {
      const writer = new RowWriter()
      for (const { feedback_id } of asked) {
        const at = places.findIndex((place) => place.feedback_id === feedback_id)
        writer.string(`${RUN}/${feedback_id}`)
        writer.string(records[at]?.body ?? '')
      }
      const bytes = writer.finish()
      answers.push(bytes.length)
      return Buffer.from(bytes)
    },
  }
}

describe('a page of feedback', () => {
  it('has null for absent fields, and says whether more records follow', async () => {
    const store = storeOf([
      { body: '{"id":"a","score":1}', sent: ['id', 'score', 'created_at'] },
      { body: '{"id":"b"}' },
      { body: '{"id":"c"}' },
    ])
    const page = await readFeedbackPage(store, WORKSPACE, { ...ALL, limit: 2 })
    expect(page).toMatchObject({ shown: 2, more: true })
    expect(JSON.parse(page.body.toString())).toEqual([
      {
        id: 'a',
        score: 1,
        run_id: null,
        trace_id: null,
        value: null,
        comment: null,
        correction: null,
        modified_at: '2026-01-01T00:00:00.000Z',
      },
      { id: 'b' },
    ])
    const last = await readFeedbackPage(store, WORKSPACE, { ...ALL, limit: 2, offset: 2 })
    expect(last).toMatchObject({ shown: 1, more: false })
    const none = await readFeedbackPage(store, WORKSPACE, { ...ALL, offset: 3 })
    expect([none.body.toString(), none.shown, none.more]).toEqual(['[]', 0, false])
  })

  it('ends at 32 MB, and is read a megabyte at a time', async () => {
    const body = `{"comment":"${'x'.repeat(5 * MB)}"}`
    const store = storeOf(Array.from({ length: 9 }, () => ({ body })))
    const first = await readFeedbackPage(store, WORKSPACE, ALL)
    expect(first).toMatchObject({ shown: 6, more: true })
    expect(first.body.length).toBeLessThan(32 * MB)
    expect(Math.max(...store.answers)).toBeLessThan(6 * MB)
    expect(await readFeedbackPage(store, WORKSPACE, { ...ALL, offset: 6 })).toMatchObject({
      shown: 3,
      more: false,
    })
  })
})
