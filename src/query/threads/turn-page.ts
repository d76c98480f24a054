import { isUuid, isWhole, readPageCursor, writePageCursor } from '../../base/text/page-cursor.ts'
import { movable } from '../../ingest/derive/fetch-payloads.ts'
import type { ThreadTurn } from '../../ingest/store/thread-store.ts'
import { mayNeedPayload, needsPayload } from '../../trace/json/selected-run.ts'
import { fieldsOfRoot, rootColumns } from '../../trace/json/turn.ts'
import type { TraceRunRow } from '../../trace/rows/trace-run-row.ts'
import { planRead } from '../read-plan.ts'
import type { ReadSteps } from '../steps.ts'
import type { Asker } from '../trace-reads.ts'
import { ALWAYS, fewTurns, filtersOf } from './list.ts'
import type { TurnsWanted } from './thread-reads.ts'
import { TURN_COLUMNS } from './sums.ts'
import { rootRows, type TurnRoots } from './turn-assembly.ts'

/** Maximum number of TraceRuns in the traces of one page. */
const MAX_PAGE_ROWS = 200_000

/** JSON bytes of a page of traces; undefined for an unknown thread. */
export async function turnPage(
  steps: ReadSteps,
  workspace_id: string,
  wanted: TurnsWanted,
  asker: Asker,
): Promise<Uint8Array | undefined> {
  const { store } = steps
  const { request, project_id, thread_id, selects, page_size, cursor } = wanted
  const after = cursor === undefined ? undefined : afterOf(cursor, request)
  const ofRoot = fieldsOfRoot(selects)
  const isWhole = mayNeedPayload(ofRoot)
  const columns = isWhole ? TURN_COLUMNS : [...new Set([...TURN_COLUMNS, ...rootColumns(selects)])]
  const { turns, known: readAlready } = await turnsFrom(
    steps,
    workspace_id,
    { ...wanted, columns, limit: page_size + 1, ...(after && { after }) },
    asker,
  )
  if (turns.length === 0 && cursor === undefined) {
    const traces = await store.tracesOfThreads(workspace_id, { project_id, ...ALWAYS }, [thread_id], 1)
    if (traces.length === 0) return undefined
  }
  const page = turns.slice(0, page_size)
  const run_ids = page.map(({ run_id }) => run_id)
  const trace_ids = page.map(({ trace_id }) => trace_id)
  const [rows, roots] = await Promise.all([
    readAlready ?? store.rowsOfTraces(workspace_id, project_id, trace_ids, { columns, limit: MAX_PAGE_ROWS }),
    isWhole ? rootsAt(store, workspace_id, wanted, page) : undefined,
  ])
  const known = new Map(roots && rootRows(roots).map((row) => [row.run_id, row]))
  const needed = run_ids.filter((id) => known.has(id) && needsPayload(ofRoot, known.get(id)!))
  const plan = await planRead(store, workspace_id, needed)
  const cut = needed[plan.shown]
  const shown = page.slice(0, cut === undefined ? page.length : run_ids.indexOf(cut))
  const end = shown.length < turns.length ? shown.at(-1) : undefined
  const next = end ? writePageCursor(request, [end.sort_time, end.trace_id]) : null
  return steps.answer(plan, (fragments) =>
    steps.task(
      'read-turns',
      { thread_id, rows, columns, roots, shown, selects, fragments, next },
      movable(fragments.payloads),
    ),
  )
}

/** The roots with the columns that the selected fields need. */
async function rootsAt(
  store: ReadSteps['store'],
  workspace_id: string,
  { project_id, selects }: TurnsWanted,
  page: readonly ThreadTurn[],
): Promise<TurnRoots> {
  const columns = rootColumns(selects)
  return { rows: await store.rowsAt(workspace_id, project_id, page, columns), columns }
}

function afterOf(cursor: string, request: unknown): Pick<ThreadTurn, 'sort_time' | 'trace_id'> {
  const [sort_time, trace_id] = readPageCursor(cursor, request, [isWhole, isUuid])
  return { sort_time, trace_id }
}

/**
 * The traces of a thread that come after the position `after`. A short thread without filters is read whole; then
 * `known` has its rows.
 */
async function turnsFrom(
  steps: ReadSteps,
  workspace_id: string,
  wanted: TurnsWanted & {
    columns: readonly (keyof TraceRunRow)[]
    limit: number
    after?: Pick<ThreadTurn, 'sort_time' | 'trace_id'>
  },
  asker: Asker,
): Promise<{ turns: ThreadTurn[]; known?: Uint8Array }> {
  const { project_id, thread_id, columns, limit, after } = wanted
  const filters = filtersOf(wanted)
  const query = { project_id, thread_id, ...filters, limit, ...(after && { after }) }
  if (Object.keys(filters).length > 0)
    return { turns: await steps.inTurn(asker, () => steps.store.turns(workspace_id, query)) }
  const few = await fewTurns(steps, workspace_id, { project_id, ...ALWAYS }, [thread_id], columns)
  if (few === undefined) return { turns: await steps.store.turns(workspace_id, query) }
  const turns = few.turns
    .map(({ root: { trace_id, run_id, sort_time } }, i) => ({ trace_id, run_id, sort_time, turn: i + 1 }))
    .filter(({ sort_time, trace_id }) => {
      if (after === undefined) return true
      return sort_time > after.sort_time || (sort_time === after.sort_time && trace_id > after.trace_id)
    })
    .slice(0, limit)
  return { turns, known: few.rows }
}
