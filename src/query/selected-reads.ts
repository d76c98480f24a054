import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { isUuid, isWhole, readPageCursor, writePageCursor } from '../base/text/page-cursor.ts'
import { movable } from '../ingest/derive/fetch-payloads.ts'
import type { ShareStore } from '../ingest/share-store.ts'
import type { ListQuery } from '../ingest/store/trace-store.ts'
import { type Filter, looksAtFeedback, parseFilter } from '../trace/filter/filter.ts'
import { linkExpiry, type RunLinks } from '../trace/json/run-links.ts'
import { columnsOf, needsPayload, type RunSelect, showsOfTrace } from '../trace/json/selected-run.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../trace/rows/trace-run-row.ts'
import { planRead, type ReadPlan } from './read-plan.ts'
import type { ReadSteps } from './steps.ts'
import { isThreadOfTrace, type SelectedRead } from './selected-assembly.ts'
import type { Asker } from './trace-reads.ts'

/** Conditions on TraceRuns; filters as clients write them. Times are epoch microseconds. */
export interface SelectedWhere
  extends Omit<
    ListQuery,
    'filter' | 'trace_filter' | 'tree_filter' | 'start_time' | 'end_time' | 'after' | 'order' | 'limit'
  > {
  project_ids: readonly string[]
  filter?: string
  trace_filter?: string
  tree_filter?: string
  /** Started at this time or later. */
  from?: number
  /** Started before this time. */
  to?: number
}

/** The form of a response: the fields, and the URL of the server for the links among them. */
export interface Shown {
  selects: readonly RunSelect[]
  /** Without a trailing slash. */
  address: string
}

/** A page of API v2, newest first. */
export interface SelectedPage extends Shown {
  /** The client's query without cursor and page size; a cursor is valid only for the same query. */
  request: unknown
  /** A query without times reads the last 24 hours (S-9). */
  where: SelectedWhere
  /** The kind of records; a trace is represented by its root. */
  of: 'runs' | 'traces'
  /** Whether tokens, costs and first token are those of the subtree; always true for traces. */
  subtree: boolean
  page_size: number
  cursor?: string
}

export interface TracePlace {
  run_id: string
  trace_id: string
  project_id: string
}

/** The data from which the links of responses are made. */
export interface LinkSource {
  shares: Pick<ShareStore, 'ofTraces'>
  attachmentKey(): Promise<string>
}

/** Reads for API v2: JSON bytes with the selected fields, made off the event loop. */
export interface SelectedReads {
  /** @throws AppError invalid_request for an invalid filter or cursor, rate_limited */
  page(workspace_id: string, page: SelectedPage, asker: Asker): Promise<Uint8Array>
  /** One TraceRun of a project; undefined if there is none. */
  one(
    workspace_id: string,
    ids: { project_id: string; run_id: string },
    shown: Shown,
  ): Promise<Uint8Array | undefined>
  /**
   * All TraceRuns that satisfy `where`, which selects one or a few traces by `trace_ids` or `trace_filter`; undefined
   * if the project has no such trace. @throws AppError invalid_request if they do not fit into one response
   */
  ofTraces(
    workspace_id: string,
    where: SelectedWhere,
    shown: Shown,
    asker: Asker,
  ): Promise<Uint8Array | undefined>
  /** The place of a TraceRun; undefined if there is none of that id. */
  place(workspace_id: string, run_id: string): Promise<TracePlace | undefined>
  /** Whether any TraceRun satisfies `where`. */
  has(workspace_id: string, where: SelectedWhere): Promise<boolean>
}

const DAY_US = 86_400_000_000
/** Maximum number of TraceRuns in the list of a trace; LangSmith's API has the same maximum. */
const MAX_OF_TRACE = 25_000
const NONE = new Uint8Array(0)

interface SelectedParts {
  steps: ReadSteps
  links: LinkSource
  clock: Clock
}

/** `steps` are shared with the other reads of the server. */
export function createSelectedReads(steps: ReadSteps, links: LinkSource, clock: Clock): SelectedReads {
  const parts = { steps, links, clock }
  return {
    page: (workspace_id, page, asker) => readPage(parts, workspace_id, page, asker),
    one: (workspace_id, ids, shown) => readOne(parts, workspace_id, ids, shown),
    ofTraces: (workspace_id, where, shown, asker) => readTraces(parts, workspace_id, { where, shown }, asker),
    async place(workspace_id, run_id) {
      const [row] = TRACE_RUN_ROWS.readAll(await steps.store.row(workspace_id, run_id))
      return row && { run_id, trace_id: row.trace_id, project_id: row.project_id }
    },
    has: (workspace_id, where) => hasAny(steps, workspace_id, where),
  }
}

async function readPage(
  parts: SelectedParts,
  workspace_id: string,
  page: SelectedPage,
  asker: Asker,
): Promise<Uint8Array> {
  const { selects, address, page_size, request } = page
  const { from, to, after } = placeOf({ ...page, now: parts.clock.now() })
  const columns = columnsOf(selects)
  const query: ListQuery = {
    ...toListQuery(page.where),
    start_time: from,
    end_time: to,
    ...(after && { after }),
    order: 'desc',
    // One more than the page has, so that the last page is never empty (S-15).
    limit: page_size + 1,
  }
  const rows = await parts.steps.list(workspace_id, query, asker, columns)
  const found = decode(rows, columns)
  const shape = page.of === 'traces' ? 'traces' : 'page'
  const usage = page.subtree ? 'subtree' : 'own'
  const read = { rows, columns, selects, address, usage, shape } as const
  const answer = await assemble(parts, workspace_id, read, found.slice(0, page_size), (shown) => {
    const last = shown < found.length ? found[shown - 1] : undefined
    return last ? writePageCursor(request, [from, to, last.sort_time, last.run_id]) : null
  })
  return answer ?? NONE
}

async function readOne(
  parts: SelectedParts,
  workspace_id: string,
  { project_id, run_id }: { project_id: string; run_id: string },
  shown: Shown,
): Promise<Uint8Array | undefined> {
  const rows = await parts.steps.store.row(workspace_id, run_id)
  const { columns } = TRACE_RUN_ROWS
  const [row] = decode(rows, columns)
  if (row === undefined || row.project_id !== project_id) return undefined
  const read = { rows, columns, ...shown, usage: 'own', shape: 'one' } as const
  return assemble(parts, workspace_id, read, [row], () => null)
}

async function readTraces(
  parts: SelectedParts,
  workspace_id: string,
  { where, shown }: { where: SelectedWhere; shown: Shown },
  asker: Asker,
): Promise<Uint8Array | undefined> {
  const { from, to } = where
  const times = { ...(from !== undefined && { start_time: from }), ...(to !== undefined && { end_time: to }) }
  const columns = columnsOf(shown.selects)
  const query: ListQuery = { ...toListQuery(where), ...times, order: 'asc', limit: MAX_OF_TRACE + 1 }
  const rows = await parts.steps.list(workspace_id, query, asker, columns)
  const found = decode(rows, columns)
  if (found.length === 0) {
    const { filter: _filter, ...anywhere } = where
    if (!(await hasAny(parts.steps, workspace_id, anywhere))) return undefined
  }
  if (found.length > MAX_OF_TRACE) throw tooMuch()
  const read = { rows, columns, ...shown, usage: 'own', shape: 'list' } as const
  return assemble(parts, workspace_id, read, found, (fitting) => {
    if (fitting < found.length) throw tooMuch()
    return null
  })
}

/** Whether any TraceRun satisfies `where`, ignoring its times. */
async function hasAny({ store }: ReadSteps, workspace_id: string, where: SelectedWhere): Promise<boolean> {
  const query: ListQuery = { ...toListQuery(where), order: 'asc', limit: 1 }
  return (await store.list(workspace_id, query, ['run_id'])).length > 0
}

type Assembled = Pick<SelectedRead, 'rows' | 'columns' | 'selects' | 'usage' | 'shape'> & Shown

/** Makes the response for `found`; `nextAfter` returns the cursor after the first `shown` rows, which fit into it. */
async function assemble(
  { steps, links: source, clock }: SelectedParts,
  workspace_id: string,
  { address, ...read }: Assembled,
  found: readonly TraceRunRow[],
  nextAfter: (shown: number) => string | null,
): Promise<Uint8Array | undefined> {
  const wantsFeedback = read.selects.includes('FEEDBACK_STATS')
  const [links, roll_up, { plan, shown }, feedback] = await Promise.all([
    linksOf(source, { workspace_id, address, expires: linkExpiry(clock.now()) }, read.selects, found),
    rollUpOf(steps, workspace_id, read, found),
    planOf(steps, workspace_id, read.selects, found),
    steps.feedbackOn(workspace_id, wantsFeedback ? found.map((row) => row.run_id) : []),
  ])
  const next = nextAfter(shown)
  return steps.answer(plan, (fragments) =>
    steps.task(
      'read-selected',
      { ...read, roll_up, fragments, shown, feedback, links, next },
      movable(fragments.payloads),
    ),
  )
}

/** Reads the data for the links in the selected fields. */
async function linksOf(
  { shares, attachmentKey }: LinkSource,
  about: Pick<RunLinks, 'workspace_id' | 'address' | 'expires'>,
  selects: readonly RunSelect[],
  found: readonly TraceRunRow[],
): Promise<RunLinks> {
  const traces = new Set(selects.includes('SHARE_URL') ? found.map((row) => row.trace_id) : [])
  const known = traces.size === 0 ? [] : await shares.ofTraces(about.workspace_id, [...traces])
  return {
    ...about,
    share_tokens: new Map([...known].map(([trace_id, { token }]) => [trace_id, token])),
    key: selects.includes('ATTACHMENTS') ? await attachmentKey() : '',
  }
}

function rollUpOf(
  { store }: ReadSteps,
  workspace_id: string,
  { selects, usage, shape }: Omit<Assembled, 'address'>,
  found: readonly TraceRunRow[],
): Promise<Uint8Array> {
  const sums = (usage === 'subtree' || shape === 'traces') && showsOfTrace(selects, 'sums')
  const threads = showsOfTrace(selects, 'thread')
  const known = found.filter((row) => sums || (threads && isThreadOfTrace(row)))
  const traces = new Set(known.map((row) => row.trace_id))
  return traces.size === 0 ? Promise.resolve(NONE) : store.rollUpRows(workspace_id, [...traces], known)
}

/** Plans the fragments of the rows that need them; `shown` is the number of rows that fit into a response. */
async function planOf(
  { store }: ReadSteps,
  workspace_id: string,
  selects: readonly RunSelect[],
  found: readonly TraceRunRow[],
): Promise<{ plan: ReadPlan; shown: number }> {
  const needed = found.filter((row) => needsPayload(selects, row))
  const plan = await planRead(
    store,
    workspace_id,
    needed.map((row) => row.run_id),
  )
  const first = needed[plan.shown]
  return { plan, shown: first === undefined ? found.length : found.indexOf(first) }
}

function tooMuch(): AppError {
  return new AppError('invalid_request', {
    message:
      'The trace does not fit into one answer. Select fewer fields, or read it page by page with POST /api/v2/runs/query and its trace_id.',
  })
}

/** The time range of a list, which is the same for all pages, and the end of the previous page. */
function placeOf({ request, where, cursor, now }: SelectedPage & { now: number }): {
  from: number
  to: number
  after?: { sort_time: number; run_id: string }
} {
  if (cursor === undefined) {
    // Rows have microseconds, the clock has milliseconds: TraceRuns that started in the current millisecond are
    // included.
    return { from: where.from ?? now * 1000 - DAY_US, to: where.to ?? (now + 1) * 1000 }
  }
  const [from, to, sort_time, run_id] = readPageCursor(cursor, request, [isWhole, isWhole, isWhole, isUuid])
  return { from, to, after: { sort_time, run_id } }
}

function toListQuery({ from: _from, to: _to, ...where }: SelectedWhere): Omit<ListQuery, 'order' | 'limit'> {
  const { filter, trace_filter, tree_filter, ...rest } = where
  const filters = filtersOf({ filter, trace_filter, tree_filter }, where.is_root === true)
  const hasWindow = where.feedback_from !== undefined || where.feedback_to !== undefined
  if (hasWindow && !Object.values(filters).some(looksAtFeedback)) {
    const message =
      'min_feedback_modified_at and max_feedback_modified_at need a condition on feedback in a filter.'
    throw new AppError('invalid_request', { message })
  }
  return { ...rest, ...filters }
}

type Filters<T> = Partial<Record<'filter' | 'trace_filter' | 'tree_filter', T>>

/** Parses the filters. For roots, the filter on the root of the trace is a condition on the same row. */
function filtersOf(texts: Filters<string | undefined>, isRoot: boolean): Filters<Filter> {
  const [own, ofRoot, ofTree] = [texts.filter, texts.trace_filter, texts.tree_filter].map(
    (text) => text && parseFilter(text),
  )
  const tree = ofTree ? { tree_filter: ofTree } : {}
  if (own && ofRoot && isRoot) return { filter: { kind: 'and', of: [own, ofRoot] }, ...tree }
  const filter = own || (isRoot && ofRoot)
  return { ...(filter && { filter }), ...(ofRoot && !isRoot && { trace_filter: ofRoot }), ...tree }
}

function decode(rows: Uint8Array, columns: readonly (keyof TraceRunRow)[]): TraceRunRow[] {
  return [...TRACE_RUN_ROWS.read(rows, columns)] as TraceRunRow[]
}
