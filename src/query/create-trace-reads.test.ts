import { describe, expect, it } from 'vitest'
import { createTraceReads, type TraceReadsDeps } from './create-trace-reads.ts'
import { writeCursor } from './cursor.ts'
import { createReadSteps, type ReadStepsDeps } from './steps.ts'
import type { ListQuery } from '../ingest/store/trace-store.ts'

const LIMITS = { max_body_bytes: 1, max_parts: 1, max_part_bytes: 1 }
const PAGE = new TextEncoder().encode('{"runs":[]}')
const QUERY = { limit: 10, order: 'desc' } as const
const FILTERED = { ...QUERY, filter: 'gt(total_tokens, 10)' }

/** Trace reads over a store whose queries the test resolves. */
function openReads() {
  const asked: { query: ListQuery; answer: () => void }[] = []
  const store = {
    feedbackOfRuns: async () => new Map(),
    list: (_workspace: string, query: ListQuery) =>
      new Promise<Uint8Array>((resolve) => {
        asked.push({ query, answer: () => resolve(new Uint8Array(0)) })
      }),
  }
  const steps = createReadSteps({ store, readLane: { run: async () => PAGE } } as unknown as ReadStepsDeps)
  const deps = { steps, limits: LIMITS } as unknown as TraceReadsDeps
  return { reads: createTraceReads(deps), asked }
}

function turn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}

describe('queries of runs', () => {
  it('with filters are limited per key, and do not delay other reads', async () => {
    const { reads, asked } = openReads()
    const gone = new AbortController().signal
    const query = (holder: string, what: typeof QUERY) => reads.query('w', what, { holder, gone })
    const filtered = Array.from({ length: 30 }, () => query('a', FILTERED))
    const light = query('a', QUERY)
    const other = query('b', FILTERED)
    await turn()
    expect(asked.map(({ query: { filter } }) => filter !== undefined)).toEqual([false, true, true, true])
    asked[0]?.answer()
    asked[3]?.answer()
    expect(await Promise.all([light, other])).toEqual([PAGE, PAGE])
    for (let next = 0; next < 32; next++) {
      asked[next]?.answer()
      await turn()
    }
    expect(await Promise.all(filtered)).toHaveLength(30)
  })

  it('with a cursor of another kind of page are refused', async () => {
    const { reads } = openReads()
    const cursor = writeCursor([1, '20261120T090000000000Z0195f3a0-0000-7000-8000-0000000000aa'])
    const asked = async () => await reads.query('w', { ...QUERY, cursor })
    await expect(asked()).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('with filters are refused when too many of a key are waiting', async () => {
    const { reads } = openReads()
    const asker = { holder: 'a', gone: new AbortController().signal }
    const first = Array.from({ length: 66 }, () => reads.query('w', FILTERED, asker))
    for (const one of first) one.catch(() => undefined)
    await expect(reads.query('w', FILTERED, asker)).rejects.toMatchObject({ code: 'rate_limited' })
  })
})
