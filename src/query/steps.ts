import { createFairQueue } from '../base/fair-queue.ts'
import { NIL_UUID } from '../base/ids.ts'
import type { ReadStore } from '../ingest/store/stats-store.ts'
import type { ListQuery } from '../ingest/store/trace-store.ts'
import type { WorkerPool } from '../worker-threads/worker-pool.ts'
import { carriesUsage } from '../trace/derive/derive.ts'
import { NO_CALL } from '../trace/derive/same-call.ts'
import type { FeedbackStats } from '../trace/json/feedback-stats.ts'
import type { TraceRunRow } from '../trace/rows/trace-run-row.ts'
import { createByteBudget } from './byte-budget.ts'
import { fetchRead, type ReadFragments, type ReadPlan } from './read-plan.ts'
import type { ReadTasks } from './read-tasks.ts'
import type { Asker } from './trace-reads.ts'

/** The steps of reads, with the limits that all reads share. */
export interface ReadSteps {
  readonly store: ReadStore
  /** Runs a task in the lane that parses payloads. */
  task<N extends keyof ReadTasks>(
    name: N,
    input: ReadTasks[N]['input'],
    transfer?: readonly ArrayBuffer[],
  ): Promise<ReadTasks[N]['output']>
  /**
   * Lean rows of one page. A list with a filter waits in a queue that is fair between holders.
   * @throws AppError rate_limited when the holder has too many waiting
   */
  list(
    workspace_id: string,
    query: ListQuery,
    asker: Asker | undefined,
    columns?: readonly string[],
  ): Promise<Uint8Array>
  /** Runs work that scans many rows, in the queue of lists with a filter. */
  inTurn<T>(asker: Asker, work: () => Promise<T>): Promise<T>
  feedbackOn(workspace_id: string, run_ids: readonly string[]): Promise<Map<string, FeedbackStats>>
  /** Roll-up rows for those of `rows` that need values of their trace. */
  rollUpFor(workspace_id: string, rows: readonly TraceRunRow[]): Promise<Uint8Array>
  /** Makes a response once there is memory for its payloads. */
  answer<T>(plan: ReadPlan, make: (fragments: ReadFragments) => Promise<T>): Promise<T>
}

export interface ReadStepsDeps {
  store: ReadStore
  /** The lane that parses payloads for reads. */
  readLane: WorkerPool
}

/** Maximum bytes of payloads in memory for all responses; converting them to JSON needs a multiple of this. */
const READ_BYTES = 256 * 1024 * 1024
/**
 * Limits of queries with filters. They scan many rows; the other connections of the store stay free for fast reads.
 */
const FILTERED = { at_once: 4, at_once_per_key: 2, waiting_per_key: 64 }
const NONE = new Uint8Array(0)

/** Creates the steps that all reads of a server share, so that the limits apply to all of them together. */
export function createReadSteps({ store, readLane }: ReadStepsDeps): ReadSteps {
  const budget = createByteBudget(READ_BYTES)
  const filtered = createFairQueue(FILTERED)
  const inTurn: ReadSteps['inTurn'] = async (asker, work) => {
    const leave = await filtered.enter(asker.holder, asker.gone)
    try {
      return await work()
    } finally {
      leave()
    }
  }
  return {
    store,
    task: (name, input, transfer = []) => readLane.run({ name, input, transfer }),
    async list(workspace_id, query, asker, columns) {
      if (!scansMany(query) || asker === undefined) return store.list(workspace_id, query, columns)
      return inTurn(asker, () => store.list(workspace_id, query, columns))
    },
    inTurn,
    feedbackOn: (workspace_id, run_ids) => store.feedbackOfRuns(workspace_id, run_ids),
    async rollUpFor(workspace_id, rows) {
      const traces = new Set(rows.filter(restsOnTrace).map((row) => row.trace_id))
      const calls = rows.filter((row) => row.call_id > NO_CALL && !traces.has(row.trace_id))
      if (calls.length > 0) {
        const [among, of] = [calls.map((row) => row.trace_id), calls.map((row) => row.call_id)]
        for (const id of await store.tracesWithDoubles(workspace_id, among, of)) traces.add(id)
      }
      const known = rows.filter((row) => traces.has(row.trace_id))
      return traces.size === 0 ? NONE : store.rollUpRows(workspace_id, [...traces], known)
    },
    answer(plan, make) {
      if (plan.wants.length === 0) return make(plan.fragments)
      return budget.hold(plan.bytes, async () => make(await fetchRead(store, plan)))
    },
  }
}

/** Whether a list may read many rows for one page. */
function scansMany({ filter, trace_filter, tree_filter, order_by }: ListQuery): boolean {
  return [filter, trace_filter, tree_filter, order_by].some((one) => one !== undefined)
}

/** Whether a row shows the sums of its descendants, or is a root that may get its thread from another TraceRun. */
function restsOnTrace({ run_type, parent_run_id, thread_id }: TraceRunRow): boolean {
  return !carriesUsage(run_type) || (parent_run_id === NIL_UUID && thread_id === '')
}
