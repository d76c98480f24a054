import type { QueryClient } from '@tanstack/react-query'
import { listQuery } from '../../data/filter/list-address.ts'
import type { ListedRun, RunQuery } from '../../data/run-pages.ts'
import { listedRuns, type ReadRun, runsBeside } from '../../data/runs.ts'
import { notify } from '../../parts/notice.tsx'
import { readPreference } from '../../parts/preferences.ts'
import { navigate } from '../../router/location.ts'
import { withParams } from '../../router/params.ts'

/**
 * The run of the trace beside `trace_id` in a list, in the order in which the list shows them: that of the list as it
 * was shown, otherwise the next one by time. Undefined when there is none.
 */
async function neighbourIn(
  queries: QueryClient,
  list: RunQuery,
  { trace_id, start_time }: Pick<ReadRun, 'trace_id' | 'start_time'>,
  step: 'older' | 'newer',
): Promise<ListedRun | undefined> {
  const shown = listedRuns(queries, list)
  const isOwn = (run: ListedRun): boolean => run.trace_id === trace_id
  const place = step === 'older' ? shown.findLastIndex(isOwn) + 1 : shown.findIndex(isOwn) - 1
  if (shown.some(isOwn) && shown[place] !== undefined) return shown[place]
  if (list.sort !== undefined || start_time === null) return undefined
  return (await runsBeside(list, start_time, step)).find((run) => !isOwn(run))
}

/** Opens the trace before or after that of a root in a list; shows a message if there is none. */
export async function openNeighbour(
  queries: QueryClient,
  root: ReadRun,
  list: string,
  to: 'older' | 'newer',
): Promise<void> {
  const run = await neighbourIn(
    queries,
    listQuery(root.session_id ?? '', list, readPreference('zone')),
    root,
    to,
  )
  if (run === undefined) notify(`There is no ${to} trace in ${list === '' ? 'this project' : 'the list'}.`)
  else {
    const find = new URLSearchParams(location.search).get('find') ?? undefined
    navigate(`/traces/${run.trace_id}${withParams('', { run: run.id, list: list || undefined, find })}`)
  }
}
