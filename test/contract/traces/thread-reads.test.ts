import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import type {
  ThreadPlace,
  ThreadSummary,
  ThreadWindow,
  TurnFilters,
} from '../../../src/ingest/store/thread-store.ts'
import { readFewTurns, summarize, TURN_COLUMNS } from '../../../src/query/threads/sums.ts'
import { fillThreadRuns } from '../../../src/storage/clickhouse/threads/fill-thread-runs.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { formatDecimal } from '../../../src/trace/price/decimal.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
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

/** The store executes some dozen statements for each input of the property. */
const LONGEST = { longest: 10 }
const CENT = 10n ** 16n
/** Number of ids that are reserved for each trace: its own, and those of the TraceRuns below it. */
const IDS = 10
/** A writing time later than that of all rows of the tests. */
const written = (Date.now() + 3_600_000) * 1000

/** 0 means no thread. */
const threadNumber = fc.nat(3)
const below = fc.record({ second: fc.nat(9), thread: threadNumber, tokens: fc.nat(5) })
const trace = fc.record({
  second: fc.nat(9),
  thread: threadNumber,
  hasRoot: fc.boolean().map((no) => !no),
  /** The thread in a later version of the root; undefined if there is no such version. */
  changed: fc.option(threadNumber, { nil: undefined }),
  /** The start to which a later version of the root moves it; undefined if it does not move. */
  moved: fc.option(fc.nat(9), { nil: undefined }),
  isFailed: fc.boolean(),
  seconds: fc.option(fc.nat(5), { nil: undefined }),
  below: fc.array(below, { maxLength: 3 }),
})
const several = { minLength: 1, maxLength: 8 }
const worlds = fc.record({
  traces: fc.oneof(fc.array(trace, several), fc.array(trace.map(asSent), several)),
  from: fc.nat(4),
  to: fc.integer({ min: 5, max: 10 }),
  onlyFailed: fc.boolean(),
  onlyTurn: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
  onlyWithCalls: fc.boolean(),
})
type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never
type Trace = typeof trace extends fc.Arbitrary<infer T> ? T : never

/** A trace as most clients send it: all of its TraceRuns name its thread. */
function asSent<T extends { thread: number; below: { thread: number }[] }>(made: T): T {
  const thread = made.thread || 1
  const below = made.below.map((one) => ({ ...one, thread }))
  return { ...made, hasRoot: true, thread, changed: undefined, below }
}

/**
 * A root named a thread. Later it names none, so only the TraceRun below it names the thread; and its start has moved.
 */
const unnamedAndMoved: World = {
  traces: [
    {
      second: 0,
      thread: 1,
      hasRoot: true,
      changed: 0,
      moved: 1,
      isFailed: false,
      seconds: undefined,
      below: [{ second: 0, thread: 1, tokens: 0 }],
    },
  ],
  from: 0,
  to: 5,
  onlyFailed: false,
  onlyTurn: undefined,
  onlyWithCalls: false,
}

const named: World = { ...unnamedAndMoved, traces: unnamedAndMoved.traces.map(asSent) }

const nameOf = (thread: number): string => (thread === 0 ? '' : `thread ${thread}`)
const timeOf = (second: number): number => START + second * SECOND

/** The versions of the rows of a trace, the newest last. */
function rowsOf(workspace_id: string, place: number, made: Trace): TraceRunRow[] {
  const trace_id = idOf(place * IDS)
  const rowAt = (n: number, second: number, more: Partial<TraceRunRow>): TraceRunRow => {
    const times = { sort_time: timeOf(second), start_time: timeOf(second) }
    return traceRunRow(0, { workspace_id, run_id: idOf(place * IDS + n), trace_id, ...times, ...more })
  }
  const root = rowAt(0, made.second, {
    thread_id: nameOf(made.thread),
    status: made.isFailed ? 'error' : 'success',
    error: made.isFailed ? `failed ${place}` : '',
    end_time: made.seconds === undefined ? null : timeOf(made.second + made.seconds),
    inputs_preview: `asked ${place}`,
    outputs_preview: `said ${place}`,
  })
  const versions = [root]
  if (made.changed !== undefined) versions.push({ ...root, version: 2, thread_id: nameOf(made.changed) })
  if (made.moved !== undefined) {
    // As ingest does: the version is written twice, deleted at the old place and present at the new one.
    const left = { ...versions.at(-1)!, version: 3 }
    const there = { sort_time: timeOf(made.moved), start_time: timeOf(made.moved) }
    if (made.moved !== made.second) versions.push({ ...left, is_deleted: 1 })
    versions.push({ ...left, ...there })
  }
  const others = made.below.map(({ second, thread, tokens }, i) => {
    const usage = { input_tokens: tokens, output_tokens: 1, total_cost: BigInt(tokens) * CENT }
    const more = { parent_run_id: trace_id, run_type: 'llm', thread_id: nameOf(thread), ...usage }
    return rowAt(i + 1, second, more)
  })
  return [...(made.hasRoot ? versions : []), ...others]
}

/** The expected entry of a trace in the list; undefined for a trace in no thread. */
function turnOf(versions: readonly TraceRunRow[]) {
  const rows = [...new Map(versions.map((row) => [row.run_id, row])).values()]
  const root = rows.find((row) => row.parent_run_id === NIL_UUID)
  const naming = rows
    .filter((row) => row.thread_id !== '')
    .toSorted((a, b) => a.start_time - b.start_time || (a.run_id < b.run_id ? -1 : 1))
  const thread_id = root?.thread_id || naming[0]?.thread_id
  return root && thread_id !== undefined ? { thread_id, root, rows } : undefined
}
type ModelTurn = NonNullable<ReturnType<typeof turnOf>>

const byPlace = (a: ModelTurn, b: ModelTurn): number =>
  a.root.sort_time - b.root.sort_time || (a.root.trace_id < b.root.trace_id ? -1 : 1)

function placeOf(thread_id: string, turns: readonly ModelTurn[]): ThreadPlace {
  const { sort_time, trace_id } = turns.at(-1)!.root
  return { thread_id, last_start: sort_time, last_trace_id: trace_id }
}

/** The figures of a thread that need no interpolation, so no percentiles. */
function figuresOf(thread_id: string, turns: readonly ModelTurn[]): Partial<ThreadSummary> {
  const [first, last] = [turns[0]!.root, turns.at(-1)!.root]
  const calls = turns.flatMap(({ rows }) => rows.filter((row) => row.run_type === 'llm'))
  const ends = turns.flatMap(({ root }) => root.end_time ?? [])
  const failed = turns.filter(({ root }) => root.status === 'error')
  const sum = (of: (row: TraceRunRow) => number | null): number =>
    calls.reduce((total, row) => total + (of(row) ?? 0), 0)
  return {
    thread_id,
    turns: turns.length,
    errored_turns: failed.length,
    first_trace_id: first.trace_id,
    last_trace_id: last.trace_id,
    last_end: ends.length === 0 ? null : Math.max(...ends),
    first_inputs: first.inputs_preview,
    last_outputs: last.outputs_preview,
    last_error: failed.at(-1)?.root.error ?? '',
    prompt_tokens: sum((row) => row.input_tokens),
    completion_tokens: sum((row) => row.output_tokens),
    unpriced_runs: calls.filter(({ total_cost }) => total_cost === null).length,
    total_cost:
      calls.length === 0 ? null : formatDecimal(calls.reduce((all, row) => all + (row.total_cost ?? 0n), 0n)),
  }
}

/** The filters of an input, each with the traces that satisfy it. */
function filtersOf({ onlyFailed, onlyTurn, onlyWithCalls }: World) {
  const filters: TurnFilters = {}
  const conditions: ((turn: ModelTurn) => boolean)[] = []
  if (onlyFailed) {
    filters.filter = parseFilter('eq(status, "error")')
    conditions.push(({ root }) => root.status === 'error')
  }
  if (onlyTurn !== undefined) {
    filters.trace_filter = parseFilter(`eq(id, "${idOf(onlyTurn * IDS)}")`)
    conditions.push(({ root }) => root.run_id === idOf(onlyTurn * IDS))
  }
  if (onlyWithCalls) {
    filters.tree_filter = parseFilter('eq(run_type, "llm")')
    conditions.push(({ rows }) => rows.some((row) => row.run_type === 'llm'))
  }
  return { filters, conditions }
}

let db: TestTraceStore
useTraceStore((store) => void (db = store))

type Window = ThreadWindow & TurnFilters

/** All pages of the list, two threads at a time. */
async function listed(workspace_id: string, window: Window): Promise<ThreadPlace[]> {
  const found: ThreadPlace[] = []
  for (;;) {
    const after = found.at(-1)
    const query = { ...window, written, limit: 2, ...(after && { after }) }
    const page = await db.store.threads(workspace_id, query)
    found.push(...page)
    if (page.length < 2) return found
  }
}

/** Figures in the way in which the server adds them up, in the order of the ids. */
async function addedUp(workspace_id: string, window: Window, thread_ids: readonly string[]) {
  const traces = await db.store.tracesOfThreads(workspace_id, window, thread_ids, 1000)
  const read = { columns: TURN_COLUMNS, limit: 1000 }
  const turns = readFewTurns(await db.store.rowsOfTraces(workspace_id, PROJECT, traces, read), 1000)!
  const wanted = turns.filter(
    ({ thread_id, root }) =>
      thread_ids.includes(thread_id) && root.sort_time >= window.from && root.sort_time < window.to,
  )
  return summarize(wanted).toSorted((a, b) => (a.thread_id < b.thread_id ? -1 : 1))
}

it('threads, their turns and figures are those of a naive model', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async ({ traces, from, to }) => {
      const workspace_id = newUuid()
      const stored = traces.map((made, place) => rowsOf(workspace_id, place + 1, made))
      await db.insert(stored.flat())
      const all = stored.flatMap((rows) => turnOf(rows) ?? []).toSorted(byPlace)
      const window = { project_id: PROJECT, from: timeOf(from), to: timeOf(to) }
      const inWindow = all.filter(({ root }) => root.sort_time >= window.from && root.sort_time < window.to)
      const threads = [...Map.groupBy(inWindow, ({ thread_id }) => thread_id)]

      const places = threads.map(([id, turns]) => placeOf(id, turns))
      places.sort((a, b) => b.last_start - a.last_start || (a.last_trace_id < b.last_trace_id ? 1 : -1))
      expect(await listed(workspace_id, window)).toEqual(places)
      const counts = { threads: threads.length, traces: inWindow.length }
      expect(await db.store.countThreads(workspace_id, window)).toEqual(counts)

      const ids = threads.map(([id]) => id).toSorted()
      const ofStore = await db.store.threadSummaries(workspace_id, window, ids)
      const inOrder = ofStore.toSorted((a, b) => (a.thread_id < b.thread_id ? -1 : 1))
      expect(await addedUp(workspace_id, window, ids)).toEqual(inOrder)
      const figures = threads.map(([id, turns]) => figuresOf(id, turns))
      expect(inOrder).toMatchObject(figures.toSorted((a, b) => (a.thread_id! < b.thread_id! ? -1 : 1)))

      for (const [thread_id, turns] of Map.groupBy(all, (turn) => turn.thread_id)) {
        const query = { project_id: PROJECT, thread_id, limit: 100 }
        expect(await db.store.turns(workspace_id, query)).toEqual(
          turns.map(({ root: { trace_id, run_id, sort_time } }, i) => ({
            trace_id,
            run_id,
            sort_time,
            turn: i + 1,
          })),
        )
      }
    }),
    { ...tries(2, LONGEST), examples: [[unnamedAndMoved], [named]] },
  )
})

inLong(() => {
  it('filters select the threads and turns that a naive model selects', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const workspace_id = newUuid()
        const stored = world.traces.map((made, place) => rowsOf(workspace_id, place + 1, made))
        await db.insert(stored.flat())
        const all = stored.flatMap((rows) => turnOf(rows) ?? []).toSorted(byPlace)
        const { filters, conditions } = filtersOf(world)
        const window = { project_id: PROJECT, from: timeOf(world.from), to: timeOf(world.to) }
        const inWindow = all.filter(({ root }) => root.sort_time >= window.from && root.sort_time < window.to)
        // Each condition must hold for some trace of the thread, but not all for the same trace.
        const threads = [...Map.groupBy(inWindow, ({ thread_id }) => thread_id)].filter(([, turns]) =>
          conditions.every((isMet) => turns.some(isMet)),
        )
        const ids = threads.map(([id]) => id).toSorted()
        const found = await listed(workspace_id, { ...window, ...filters })
        expect(found.map(({ thread_id }) => thread_id).toSorted()).toEqual(ids)
        expect(await db.store.countThreads(workspace_id, { ...window, ...filters })).toEqual({
          threads: threads.length,
          traces: threads.reduce((sum, [, turns]) => sum + turns.length, 0),
        })

        for (const [thread_id, turns] of Map.groupBy(all, (turn) => turn.thread_id)) {
          const query = { project_id: PROJECT, thread_id, limit: 100, ...filters }
          const numbered = turns.map((turn, i) => ({ turn, number: i + 1 }))
          const wanted = numbered.filter(({ turn }) => conditions.every((isMet) => isMet(turn)))
          expect((await db.store.turns(workspace_id, query)).map(({ turn }) => turn)).toEqual(
            wanted.map(({ number }) => number),
          )
          const of = { ...window, from: START, to: timeOf(20), ...filters }
          const [figures] = await db.store.threadSummaries(workspace_id, of, [thread_id])
          const chosen = wanted.map(({ turn }) => turn)
          if (chosen.length === 0) expect(figures).toBeUndefined()
          else expect(figures).toMatchObject(figuresOf(thread_id, chosen))
        }
      }),
      tries(2, LONGEST),
    )
  })
})

inLong(() => {
  it('rows of earlier releases get their threads in the background, once', async () => {
    const workspace_id = newUuid()
    const far = {
      second: 0,
      hasRoot: true,
      changed: undefined,
      moved: undefined,
      isFailed: false,
      seconds: 1,
      below: [],
    }
    const made = [1, 2].map((thread) => rowsOf(workspace_id, thread, { ...far, thread }))
    const [first, second] = made.map(([root]) => root!) as [TraceRunRow, TraceRunRow]
    const dayLater = second.sort_time + 86_400 * SECOND
    await db.insert([first, { ...second, sort_time: dayLater, start_time: dayLater }])
    const window = { project_id: PROJECT, from: START, to: dayLater + 1 }
    const before = await listed(workspace_id, window)
    expect(before.map(({ thread_id }) => thread_id)).toEqual(['thread 2', 'thread 1'])

    const empty = () => db.clickhouse.command('TRUNCATE TABLE thread_runs')
    const fill = (signal = new AbortController().signal) =>
      fillThreadRuns(db.clickhouse, signal, createLogger({ level: 'silent' }))
    await empty()
    expect(await listed(workspace_id, window)).toEqual([])
    await fill(AbortSignal.abort())
    expect(await listed(workspace_id, window)).toEqual([])
    await fill()
    expect(await listed(workspace_id, window)).toEqual(before)
    // Rows that are filled in later have the writing time 0. So a cursor from before the filling still shows all
    // traces.
    expect(await db.store.threads(workspace_id, { ...window, written: 1, limit: 10 })).toEqual(before)
    await empty()
    await fill()
    expect(await listed(workspace_id, window)).toEqual([])
  })
})
