import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtInProcessors } from '../../../processors/index.ts'
import { newUuid } from '../../../src/base/ids.ts'
import { assembleSelected, type SelectedRead } from '../../../src/query/selected-assembly.ts'
import { createReadSteps, type ReadSteps, type ReadStepsDeps } from '../../../src/query/steps.ts'
import { createSelectedReads, type LinkSource } from '../../../src/query/selected-reads.ts'
import { createThreadReads } from '../../../src/query/threads/create-thread-reads.ts'
import { createEstimates } from '../../../src/trace/tokens/estimator.ts'
import { createTokenizer } from '../../../src/trace/tokens/tokenizer.ts'
import { tries } from '../../support/properties.ts'
import {
  idOf,
  PROJECT,
  SECOND,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'
import { inLong } from '../../support/length.ts'
import { testClock } from '../../support/faults/test-clock.ts'

/** A trace of one TraceRun: second of its start, and number of its thread. */
type Trace = readonly [second: number, thread: number]

/** The store executes up to a dozen statements for each input of the property, one after the other. */
const LONGEST = { longest: 10 }
const SECONDS = 8
const THREADS = 6
const clock = testClock(() => START / 1000 + SECONDS * 1000)
const asker = { holder: 'key', gone: new AbortController().signal }
const context = { processors: builtInProcessors, startEstimate: createEstimates(createTokenizer()) }
const trace = fc.tuple(fc.nat(SECONDS - 1), fc.nat(THREADS - 1))
/** The traces that are stored before the first page, and those that are stored after each page. */
const worlds = fc.record({
  before: fc.array(trace, { minLength: 1, maxLength: 12 }),
  between: fc.array(fc.array(trace, { maxLength: 3 }), { minLength: 12, maxLength: 12 }),
  page_size: fc.integer({ min: 1, max: 3 }),
})

let db: TestTraceStore
let steps: ReadSteps
useTraceStore(async (store) => {
  db = store
  const run = async ({ input }: { input: SelectedRead }) => assembleSelected(input, context)
  steps = createReadSteps({ store: db.store, readLane: { run } } as unknown as ReadStepsDeps)
})

/** Stores traces of a workspace, numbered from `first`. */
async function store(workspace_id: string, first: number, traces: readonly Trace[]): Promise<void> {
  await db.insert(
    traces.map(([second, thread], i) => {
      const time = START + second * SECOND
      const id = idOf(first + i)
      const times = { sort_time: time, start_time: time, end_time: time }
      return traceRunRow(first + i, { workspace_id, trace_id: id, thread_id: `thread ${thread}`, ...times })
    }),
  )
}

interface Page {
  ids: string[]
  next: string | null
}

/** The ids of all pages. Rows are written after each page. */
async function readAll(
  workspace_id: string,
  { before, between }: { before: readonly Trace[]; between: readonly (readonly Trace[])[] },
  readPage: (cursor: string | undefined) => Promise<Page>,
): Promise<string[]> {
  await store(workspace_id, 0, before)
  const seen: string[] = []
  let stored = before.length
  let cursor: string | undefined
  for (let page = 0; page < 100; page++) {
    const { ids, next } = await readPage(cursor)
    seen.push(...ids)
    if (next === null) return seen
    expect(ids.length).toBeGreaterThan(0)
    cursor = next
    const more = between[page] ?? []
    await store(workspace_id, stored, more)
    stored += more.length
  }
  throw new Error('The pages do not end.')
}

describe('pages that are read while traces arrive contain each record once, and all that existed before the first page', () => {
  it('of runs', () =>
    fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const workspace_id = newUuid()
        const reads = createSelectedReads(steps, {} as LinkSource, clock)
        const seen = await readAll(workspace_id, world, async (cursor) => {
          const bytes = await reads.page(
            workspace_id,
            {
              request: {},
              where: { project_ids: [PROJECT] },
              selects: ['ID'],
              address: '',
              of: 'runs',
              subtree: false,
              page_size: world.page_size,
              ...(cursor !== undefined && { cursor }),
            },
            asker,
          )
          const { items, next_cursor } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
            items: { id: string }[]
            next_cursor: string | null
          }
          return { ids: items.map(({ id }) => id), next: next_cursor }
        })
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen).toEqual(expect.arrayContaining(world.before.map((_, n) => idOf(n))))
      }),
      tries(2, LONGEST),
    ))

  inLong(() => {
    it('of threads, also of those with new traces', () =>
      fc.assert(
        fc.asyncProperty(worlds, async (world) => {
          const workspace_id = newUuid()
          const reads = createThreadReads(steps, clock)
          const seen = await readAll(workspace_id, world, async (cursor) => {
            const wanted = {
              choice: { project_id: PROJECT },
              request: {},
              page_size: world.page_size,
              ...(cursor !== undefined && { cursor }),
            }
            const { items, next_cursor } = await reads.page(workspace_id, wanted, asker)
            return { ids: items.map(({ thread_id }) => thread_id), next: next_cursor }
          })
          expect(new Set(seen).size).toBe(seen.length)
          const before = new Set(world.before.map(([, thread]) => `thread ${thread}`))
          expect(seen).toEqual(expect.arrayContaining([...before]))
        }),
        tries(2, LONGEST),
      ))
  })
})
