import { AppError } from '../base/errors.ts'
import { createFairQueue } from '../base/fair-queue.ts'
import { parseFilter } from '../trace/filter.ts'
import { NIL_UUID } from '../base/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import { keyOf } from '../trace/fragment.ts'
import { type Attachment, mergeFragments } from '../trace/merge.ts'
import { carriesUsage } from '../trace/derive.ts'
import type { FieldChoice } from '../trace/trace-run-json.ts'
import { TRACE_RUN_COLUMNS, type TraceRunRow, readRows } from '../trace/trace-run-row.ts'
import { createByteBudget } from './byte-budget.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { movable } from './fetch-payloads.ts'
import type { LaneTasks } from './lanes.ts'
import {
  fetchRead,
  fragmentsIn,
  NO_FRAGMENTS,
  planRead,
  type ReadFragments,
  type ReadPlan,
} from './read-plan.ts'
import type { Asker, TraceOptions, TraceReads, TraceRunQuery } from './trace-reads.ts'
import type { PriceStore } from './price-store.ts'
import type { ListQuery, ProjectCounts, ProjectStats, TraceStore } from './trace-store.ts'
import type { WorkerPool } from './worker-pool.ts'

export interface TraceReadsDeps {
  store: TraceStore
  /** The lane that parses payloads for reads. */
  readLane: WorkerPool
  /** Own prices, for what validation says about costs. */
  prices: Pick<PriceStore, 'snapshot'>
  /** Limits for bodies to validate. */
  limits: { max_body_bytes: number; max_parts: number; max_part_bytes: number }
}

/** TraceRuns of a trace that one answer holds (D-19). */
const TRACE_PAGE = 1000
const NONE = new Uint8Array(0)
/** Payloads that are in memory for answers at the same time; they grow several times over on their way to JSON. */
const READ_BYTES = 256 * 1024 * 1024
/** Queries with filters, which look at many rows: the others of the store's connections are for reads that do not. */
const FILTERED = { at_once: 4, at_once_per_key: 2, waiting_per_key: 64 }
/** Fields of a list that are in the payloads only: asking for one of them makes the page whole. */
const PAYLOAD_FIELDS = new Set([
  'inputs',
  'outputs',
  'events',
  'serialized',
  'attachments',
  'messages',
  'extra',
  'llm',
  'issues',
])

export function createTraceReads(deps: TraceReadsDeps): TraceReads {
  return new LaneTraceReads(deps)
}

class LaneTraceReads implements TraceReads {
  readonly #deps: TraceReadsDeps
  readonly #budget = createByteBudget(READ_BYTES)
  readonly #filtered = createFairQueue(FILTERED)

  constructor(deps: TraceReadsDeps) {
    this.#deps = deps
  }

  #task<N extends keyof LaneTasks>(
    name: N,
    input: LaneTasks[N]['input'],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<LaneTasks[N]['output']> {
    return this.#deps.readLane.run({ name, input, transfer })
  }

  /** Roll-up rows for those of `rows` that carry no usage of their own. */
  async #rollUpFor(workspace_id: string, rows: readonly TraceRunRow[]): Promise<Uint8Array> {
    const traces = new Set(rows.filter((row) => !carriesUsage(row.run_type)).map((row) => row.trace_id))
    return traces.size === 0 ? NONE : this.#deps.store.rollUpRows(workspace_id, [...traces])
  }

  /** Whole answers for those of `rows` that fit into one, in order. */
  #planOf(workspace_id: string, rows: readonly TraceRunRow[]): Promise<ReadPlan> {
    return planRead(
      this.#deps.store,
      workspace_id,
      rows.map((row) => row.run_id),
    )
  }

  /** Makes an answer once there is room for the payloads that it is made of. */
  #answer<T>(plan: ReadPlan, make: (fragments: ReadFragments) => Promise<T>): Promise<T> {
    if (plan.wants.length === 0) return make(plan.fragments)
    return this.#budget.hold(plan.bytes, async () => make(await fetchRead(this.#deps.store, plan)))
  }

  async traceRun(
    workspace_id: string,
    id: string,
    choice: FieldChoice = {},
  ): Promise<Uint8Array | undefined> {
    const { store } = this.#deps
    const [rows, plan] = await Promise.all([store.row(workspace_id, id), planRead(store, workspace_id, [id])])
    if (rows.length === 0 && plan.fragments.outlines.length === 0) return undefined
    const roll_up = await this.#rollUpFor(workspace_id, decodeRows(rows))
    return this.#answer(plan, (fragments) => {
      const read = { rows, roll_up, fragments, shown: 1 }
      return this.#task('read-trace-run', { read, choice }, movable(fragments.payloads))
    })
  }

  async trace(
    workspace_id: string,
    trace_id: string,
    options: TraceOptions,
  ): Promise<Uint8Array | undefined> {
    const { store } = this.#deps
    const after = options.cursor === undefined ? '' : readTraceCursor(options.cursor)
    const page = await store.traceRows(workspace_id, trace_id, after, TRACE_PAGE + 1)
    const found = decodeRows(page)
    if (found.length === 0) return undefined
    // After the rows, so that the totals know at least all that is shown.
    const roll_up = await store.rollUpRows(workspace_id, [trace_id])
    const first = found.slice(0, TRACE_PAGE)
    const plan = options.view === 'lean' ? leanPlan(first) : await this.#planOf(workspace_id, first)
    const { shown } = plan
    const next = found.length > shown ? writeCursor([found[shown - 1]!.dotted_order]) : null
    return this.#answer(plan, (fragments) => {
      const read = { rows: page, roll_up, fragments, shown }
      return this.#task('read-trace', { read, trace_id, next }, movable(fragments.payloads))
    })
  }

  async query(workspace_id: string, query: TraceRunQuery, asker?: Asker): Promise<Uint8Array> {
    const rows = await this.#list(workspace_id, toListQuery(query), asker)
    const found = decodeRows(rows)
    const isWhole = query.select?.some((field) => PAYLOAD_FIELDS.has(field)) === true
    const [roll_up, plan] = await Promise.all([
      this.#rollUpFor(workspace_id, found),
      isWhole ? this.#planOf(workspace_id, found) : leanPlan(found),
    ])
    const { shown } = plan
    const isLast = found.length < query.limit && shown === found.length
    const last = isLast ? undefined : found[shown - 1]
    const cursors = { next: last ? writeCursor([last.sort_time, last.run_id]) : null, prev: null }
    return this.#answer(plan, (fragments) => {
      const read = { rows, roll_up, fragments, shown }
      const input = { read, cursors, choice: { select: query.select } }
      return this.#task('read-page', input, movable(fragments.payloads))
    })
  }

  async #list(workspace_id: string, query: ListQuery, asker: Asker | undefined): Promise<Uint8Array> {
    const { store } = this.#deps
    if (query.filter === undefined || asker === undefined) return store.list(workspace_id, query)
    const leave = await this.#filtered.enter(asker.holder, asker.gone)
    try {
      return await store.list(workspace_id, query)
    } finally {
      leave()
    }
  }

  async attachment(workspace_id: string, run_id: string, name: string): Promise<Attachment | undefined> {
    const { store } = this.#deps
    const plan = await planRead(store, workspace_id, [run_id])
    const known = fragmentsIn(await fetchRead(store, plan, ['attachments'])).of(keyOf(workspace_id, run_id))
    if (known.every((fragment) => fragment.attachments.length === 0)) return undefined
    const { attachments } = mergeFragments(known.map((fragment) => ({ ...fragment, extra: NONE })))
    return Object.hasOwn(attachments, name) ? attachments[name] : undefined
  }

  feedback(workspace_id: string, run_ids: readonly string[]): Promise<JsonObject[]> {
    return this.#deps.store.feedback(workspace_id, run_ids)
  }

  projectCounts(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectCounts>> {
    return this.#deps.store.projectCounts(workspace_id, project_ids)
  }

  projectStats(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectStats>> {
    return this.#deps.store.projectStats(workspace_id, project_ids)
  }

  async validate(
    workspace_id: string,
    type: { content_type: string; content_encoding: string },
    body: Uint8Array,
  ): Promise<Uint8Array> {
    const { limits, prices } = this.#deps
    const sender = { workspace_id, user_id: NIL_UUID, api_key_id: NIL_UUID }
    return this.#task('validate', {
      head: { kind: 'batch', ...type, ...sender, received_at: Date.now(), limits },
      body,
      prices: await prices.snapshot(),
    })
  }
}

function leanPlan(rows: readonly TraceRunRow[]): ReadPlan {
  return { fragments: NO_FRAGMENTS, wants: [], bytes: 0, shown: rows.length }
}

function decodeRows(rows: Uint8Array): TraceRunRow[] {
  return [...readRows(rows, TRACE_RUN_COLUMNS)]
}

function readTraceCursor(cursor: string): string {
  const [after] = readCursor(cursor)
  if (typeof after !== 'string')
    throw new AppError('invalid_request', { message: 'The cursor is not one of this endpoint.' })
  return after
}

function toListQuery(query: TraceRunQuery): ListQuery {
  const list: ListQuery = { order: query.order, limit: query.limit }
  if (query.session) list.project_ids = query.session
  if (query.trace !== undefined) list.trace_ids = [query.trace]
  if (query.id) list.run_ids = query.id
  if (query.parent_run !== undefined) list.parent_run_id = query.parent_run
  for (const field of ['is_root', 'run_type', 'start_time', 'end_time', 'error'] as const) {
    if (query[field] !== undefined) Object.assign(list, { [field]: query[field] })
  }
  if (query.filter !== undefined) list.filter = parseFilter(query.filter)
  if (query.cursor !== undefined) {
    const [sort_time, run_id] = readCursor(query.cursor)
    if (typeof sort_time !== 'number' || typeof run_id !== 'string')
      throw new AppError('invalid_request', { message: 'The cursor is not one of this endpoint.' })
    list.after = { sort_time, run_id }
  }
  return list
}
