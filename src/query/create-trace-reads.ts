import { carriesUsage } from '../trace/derive/derive.ts'
import { invalidCursor } from '../base/text/page-cursor.ts'
import { parseFilter, searchFor } from '../trace/filter/filter.ts'
import { NIL_UUID, parseUuid } from '../base/ids.ts'
import { keyOf } from '../trace/rows/fragment.ts'
import { mergeFragments } from '../trace/derive/merge.ts'
import type { Attachment } from '../trace/derive/merged-trace-run.ts'
import type { Media } from '../trace/json/media.ts'
import type { FileFormat } from '../trace/json/run-lines.ts'
import type { TraceGlimpse } from '../trace/json/row-fields.ts'
import { type FieldChoice, listNeeds } from '../trace/json/trace-run.ts'
import { derivedFrom, TRACE_RUN_ROWS, type TraceRunRow } from '../trace/rows/trace-run-row.ts'
import { readFeedbackPage } from './feedback-page.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { type Differences, differencesOf } from './values/run-differences.ts'
import { movable } from '../ingest/derive/fetch-payloads.ts'
import { fetchRead, fragmentsIn, NO_FRAGMENTS, planRead, type ReadPlan } from './read-plan.ts'
import { type Outline, type OutlineOptions, readOutline } from './outline-reads.ts'
import type { ReadSteps } from './steps.ts'
import type { ReadTasks } from './read-tasks.ts'
import type {
  Asker,
  FeedbackPage,
  FilePart,
  TraceOptions,
  TraceReads,
  TraceRunDifferenceQuery,
  TraceRunFacetQuery,
  TraceRunQuery,
  TraceRunStats,
  TraceRunStatsQuery,
  TraceSearch,
} from './trace-reads.ts'
import type { Facets } from '../ingest/store/stats-store.ts'
import type { PriceStore } from '../ingest/prices/price-store.ts'
import type { FeedbackQuery, ListQuery, ProjectCounts, ProjectStats } from '../ingest/store/trace-store.ts'

export interface TraceReadsDeps {
  steps: ReadSteps
  /** Own prices, for validation reports and for TraceRuns that are read before their row is derived. */
  prices: Pick<PriceStore, 'snapshot'>
  limits: { max_body_bytes: number; max_parts: number; max_part_bytes: number }
}

type PageInput = Omit<ReadTasks['read-page']['input'], 'choice'>

/** Maximum number of TraceRuns of a trace in one response (D-19). */
const TRACE_PAGE = 1000
const NONE = new Uint8Array(0)
export function createTraceReads(deps: TraceReadsDeps): TraceReads {
  return new LaneTraceReads(deps)
}

class LaneTraceReads implements TraceReads {
  readonly #deps: TraceReadsDeps
  readonly #steps: ReadSteps

  constructor(deps: TraceReadsDeps) {
    this.#deps = deps
    this.#steps = deps.steps
  }

  traceRun(
    workspace_id: string,
    id: string,
    choice: FieldChoice = {},
    media_link?: string,
  ): Promise<Uint8Array | undefined> {
    const link = media_link === undefined ? {} : { media_link }
    return this.#readRun(workspace_id, id, (input, transfer) =>
      this.#steps.task('read-trace-run', { ...input, choice, ...link }, transfer),
    )
  }

  media(workspace_id: string, id: string, pointer: string): Promise<Media | undefined> {
    return this.#readRun(workspace_id, id, (input, transfer) =>
      this.#steps.task('read-media', { ...input, pointer }, transfer),
    )
  }

  /** The result of `make` for a TraceRun; undefined for an unknown one. */
  async #readRun<T>(
    workspace_id: string,
    id: string,
    make: (
      input: Pick<ReadTasks['read-trace-run']['input'], 'read' | 'prices'>,
      transfer: readonly ArrayBuffer[],
    ) => Promise<T>,
  ): Promise<T | undefined> {
    const { store } = this.#steps
    const [rows, sums, plan, feedback] = await Promise.all([
      store.row(workspace_id, id),
      // Only roots have the id of a trace. Reading the sums at the same time as the row saves a third of the time.
      store.largeTraceSums(workspace_id, id),
      planRead(store, workspace_id, [id]),
      this.#steps.feedbackOn(workspace_id, [id]),
    ])
    if (rows.length === 0 && plan.fragments.outlines.length === 0) return undefined
    const [row] = decodeRows(rows)
    const known = fragmentsIn(plan.fragments).of(keyOf(workspace_id, id)).length
    const hasNews = row === undefined || known > derivedFrom(row)
    const [roll_up, prices] = await Promise.all([
      this.#steps.rollUpFor(workspace_id, row && sums === undefined ? [row] : []),
      hasNews ? this.#deps.prices.snapshot().catch(() => undefined) : undefined,
    ])
    return this.#steps.answer(plan, (fragments) => {
      const read = { rows, roll_up, ...(sums && { sums }), fragments, shown: 1, feedback }
      return make({ read, prices }, movable(fragments.payloads))
    })
  }

  async trace(
    workspace_id: string,
    trace_id: string,
    options: TraceOptions,
  ): Promise<Uint8Array | undefined> {
    const { store } = this.#steps
    const after = options.cursor === undefined ? '' : readTraceCursor(options.cursor)
    const page = await store.traceRows(workspace_id, trace_id, after, TRACE_PAGE + 1)
    const found = decodeRows(page)
    if (found.length === 0) return undefined
    // Read after the rows, so that the totals include at least all TraceRuns on the page.
    const [roll_up, root] = await Promise.all([
      store.rollUpRows(workspace_id, [trace_id], []),
      options.cursor === undefined ? NONE : store.row(workspace_id, trace_id),
    ])
    const first = found.slice(0, TRACE_PAGE)
    const plan = options.view === 'lean' ? leanPlan(first) : await planRead(store, workspace_id, idsOf(first))
    const { shown } = plan
    const feedback = await this.#steps.feedbackOn(workspace_id, idsOf(first.slice(0, shown)))
    const next = found.length > shown ? writeCursor([found[shown - 1]!.dotted_order]) : null
    return this.#steps.answer(plan, (fragments) => {
      const read = { rows: page, roll_up, root, fragments, shown, feedback }
      return this.#steps.task('read-trace', { read, trace_id, next }, movable(fragments.payloads))
    })
  }

  outline(workspace_id: string, trace_id: string, options: OutlineOptions): Promise<Outline | undefined> {
    return readOutline(this.#steps.store, { workspace_id, trace_id }, options, (task) =>
      this.#steps.task('read-outline', task, movable([task.rows])),
    )
  }

  query(workspace_id: string, query: TraceRunQuery, asker?: Asker): Promise<Uint8Array> {
    return this.#page(workspace_id, query, asker, (input, transfer) =>
      this.#steps.task('read-page', { ...input, choice: { ...query.shown, select: query.select } }, transfer),
    )
  }

  async filePart(
    workspace_id: string,
    query: TraceRunQuery,
    format: FileFormat,
    asker: Asker,
  ): Promise<FilePart> {
    let next: string | null = null
    const bytes = await this.#page(workspace_id, query, asker, ({ read, cursors }, transfer) => {
      next = cursors.next
      return this.#steps.task('read-file-part', { read, choice: { select: query.select }, format }, transfer)
    })
    return { bytes, next }
  }

  matches(workspace_id: string, { query: text, ...page }: TraceSearch, asker: Asker): Promise<Uint8Array> {
    const query = { ...page, search: text, select: ['inputs'], order: 'asc' as const }
    return this.#page(workspace_id, query, asker, (input, transfer) =>
      this.#steps.task('read-matches', { ...input, text }, transfer),
    )
  }

  /** Reads a page of a list, from which `make` makes the response. */
  async #page(
    workspace_id: string,
    query: TraceRunQuery,
    asker: Asker | undefined,
    make: (input: PageInput, transfer: readonly ArrayBuffer[]) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const list = toListQuery(query)
    const needs = listNeeds(query.select)
    const { columns } = needs
    const rows = await this.#steps.list(workspace_id, list, asker, columns)
    const found = [...TRACE_RUN_ROWS.read(rows, columns)]
    const glimpsed = needs.glimpses ? glimpsedTraces(found) : []
    const [roll_up, plan, feedback, glimpses] = await Promise.all([
      needs.traces ? this.#steps.rollUpFor(workspace_id, found) : NONE,
      needs.payloads ? planRead(this.#steps.store, workspace_id, idsOf(found)) : leanPlan(found),
      this.#steps.feedbackOn(workspace_id, needs.feedback ? idsOf(found) : []),
      glimpsed.length === 0 ? NO_GLIMPSES : this.#steps.store.traceGlimpses(workspace_id, glimpsed),
    ])
    const { shown } = plan
    const isLast = found.length < query.limit && shown === found.length
    const last = isLast ? undefined : found[shown - 1]
    const cursors = { next: last ? nextCursor(list, last, shown) : null, prev: null }
    return this.#steps.answer(plan, (fragments) => {
      const read = { rows, columns, roll_up, fragments, shown, feedback, glimpses }
      return make({ read, cursors }, movable(fragments.payloads))
    })
  }

  stats(workspace_id: string, query: TraceRunStatsQuery, asker: Asker): Promise<TraceRunStats> {
    const { store } = this.#steps
    const { group_by, interval, histograms } = query
    const { limit: _limit, order: _order, ...found } = toListQuery({ ...query, limit: 1, order: 'desc' })
    const wanted = {
      ...found,
      ...(group_by && { group_by }),
      ...(interval !== undefined && { interval }),
      ...(histograms && { histograms }),
    }
    const isWhole = group_by === undefined && interval === undefined
    return this.#steps.inTurn(asker, async () => {
      const [answer, feedback] = await Promise.all([
        store.runStats(workspace_id, wanted),
        isWhole ? store.feedbackStats(workspace_id, wanted) : undefined,
      ])
      return { ...answer, feedback }
    })
  }

  facets(workspace_id: string, query: TraceRunFacetQuery, asker: Asker): Promise<Facets> {
    const { field, key, prefix, max_values } = query
    const { limit: _limit, order: _order, ...found } = toListQuery({ ...query, limit: 1, order: 'desc' })
    const values = {
      field,
      max_values,
      ...(key !== undefined && { key }),
      ...(prefix !== undefined && { prefix }),
    }
    return this.#steps.inTurn(asker, () => this.#steps.store.runFacets(workspace_id, { ...found, ...values }))
  }

  differences(
    workspace_id: string,
    { selected, ...query }: TraceRunDifferenceQuery,
    asker: Asker,
  ): Promise<Differences> {
    const { limit: _limit, order: _order, ...found } = toListQuery({ ...query, limit: 1, order: 'desc' })
    return this.#steps.inTurn(asker, async () =>
      differencesOf(await this.#steps.store.comparedRuns(workspace_id, { ...found, selected })),
    )
  }

  async attachment(workspace_id: string, run_id: string, name: string): Promise<Attachment | undefined> {
    const { store } = this.#steps
    const plan = await planRead(store, workspace_id, [run_id])
    const known = fragmentsIn(await fetchRead(store, plan, ['attachments'])).of(keyOf(workspace_id, run_id))
    if (known.every((fragment) => fragment.attachments.length === 0)) return undefined
    const { attachments } = mergeFragments(known.map((fragment) => ({ ...fragment, extra: NONE })))
    return Object.hasOwn(attachments, name) ? attachments[name] : undefined
  }

  feedback(workspace_id: string, query: FeedbackQuery): Promise<FeedbackPage> {
    return readFeedbackPage(this.#steps.store, workspace_id, query)
  }

  projectCounts(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectCounts>> {
    return this.#steps.store.projectCounts(workspace_id, project_ids)
  }

  projectStats(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectStats>> {
    return this.#steps.store.projectStats(workspace_id, project_ids)
  }

  async validate(
    workspace_id: string,
    type: { content_type: string; content_encoding: string },
    body: Uint8Array,
  ): Promise<Uint8Array> {
    const { limits, prices } = this.#deps
    const sender = { workspace_id, user_id: NIL_UUID, api_key_id: NIL_UUID }
    return this.#steps.task('validate', {
      head: { kind: 'batch', ...type, ...sender, received_at: Date.now(), limits },
      body,
      prices: await prices.snapshot(),
    })
  }
}

const NO_GLIMPSES: ReadonlyMap<string, TraceGlimpse> = new Map()

/** The traces whose roots a list shows with what the TraceRuns below say. */
function glimpsedTraces(rows: readonly TraceRunRow[]): string[] {
  return rows.flatMap(({ parent_run_id, trace_id, run_type }) =>
    parent_run_id === NIL_UUID && !carriesUsage(run_type) ? trace_id : [],
  )
}

function leanPlan(rows: readonly TraceRunRow[]): ReadPlan {
  return { fragments: NO_FRAGMENTS, wants: [], bytes: 0, shown: rows.length }
}

function idsOf(rows: readonly TraceRunRow[]): string[] {
  return rows.map((row) => row.run_id)
}

function decodeRows(rows: Uint8Array): TraceRunRow[] {
  return [...TRACE_RUN_ROWS.readAll(rows)]
}

function readTraceCursor(cursor: string): string {
  const [after] = readCursor(cursor)
  if (typeof after !== 'string') throw invalidCursor()
  return after
}

/** Maximum number of TraceRuns in a list that is ordered by a value, since each page sorts all of them. */
const MOST_ORDERED = 10_000

function offsetIn(cursor: string): number {
  const [offset, ...others] = readCursor(cursor)
  if (typeof offset !== 'number' || offset < 0 || offset > MOST_ORDERED || others.length > 0)
    throw invalidCursor()
  return offset
}

/** The cursor of the page after this one. */
function nextCursor({ order_by, offset = 0 }: ListQuery, last: TraceRunRow, shown: number): string | null {
  if (order_by === undefined) return writeCursor([last.sort_time, last.run_id])
  return offset + shown < MOST_ORDERED ? writeCursor([offset + shown]) : null
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
  for (const name of ['filter', 'trace_filter', 'tree_filter'] as const) {
    const text = query[name]
    if (text !== undefined) list[name] = parseFilter(text)
  }
  if (query.search !== undefined) {
    const search = searchFor(query.search)
    list.filter = list.filter ? { kind: 'and', of: [list.filter, search] } : search
  }
  if (query.order_by !== undefined) {
    list.order_by = query.order_by
    list.offset = query.cursor === undefined ? 0 : offsetIn(query.cursor)
  } else if (query.cursor !== undefined) {
    const [sort_time, run_id] = readCursor(query.cursor)
    const id = parseUuid(run_id)
    if (typeof sort_time !== 'number' || id === undefined) throw invalidCursor()
    list.after = { sort_time, run_id: id }
  }
  return list
}
