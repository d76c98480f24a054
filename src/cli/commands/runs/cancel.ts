import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { type ApiClient, connectDeployment, isGone } from '../../server/api-client.ts'
import { assertWord } from '../../arguments/command-arguments.ts'
import { type DeploymentRun, isUnfinished } from '../../server/deployment-run.ts'
import type { RunsFlags } from './flags.ts'
import { textTable } from '../../terminal/text-table.ts'

type Result = SchemaTypes['run-cancel-results'][number]

const TITLES = ['RUN', 'OUTCOME', 'STATUS']
const ACTIONS = ['interrupt', 'rollback']
const SELECTED = ['pending', 'running', 'all']

/** Outcomes in words for people. */
const OUTCOMES: Readonly<Record<Result['outcome'], string>> = {
  ended: 'cancelled',
  requested: 'told to end',
  not_active: 'had ended',
  not_found: 'not found',
}

/** `weir runs cancel`: cancels the runs with these ids, or all runs with the status of the flag. */
export async function runsCancel(run_ids: readonly string[], flags: RunsFlags): Promise<number> {
  assertWord('--action', flags.action, ACTIONS)
  if (flags.status !== undefined) assertWord('--status', flags.status, SELECTED)
  const api = await connectDeployment(flags)
  const results =
    flags.status === undefined
      ? await cancelByIds(api, [...new Set(run_ids)], flags)
      : await cancel(api, { status: flags.status }, flags)
  if (flags.asJson) console.log(JSON.stringify(results, null, 2))
  else console.log(results.length === 0 ? 'There are no such runs.' : textTable(TITLES, results.map(toRow)))
  return results.every(({ outcome }) => outcome === 'ended' || outcome === 'requested') ? 0 : 1
}

/** Cancels runs by id. The API cancels runs of one thread at a time, so the threads of the runs are read first. */
async function cancelByIds(api: ApiClient, run_ids: readonly string[], flags: RunsFlags): Promise<Result[]> {
  const found = await Promise.all(run_ids.map((run_id) => findRun(api, run_id)))
  const byThread = Map.groupBy(
    found.filter((run) => run !== undefined),
    ({ thread_id }) => thread_id,
  )
  const cancelled = await Promise.all(
    [...byThread].map(([thread_id, runs]) =>
      cancel(api, { thread_id, run_ids: runs.map(({ run_id }) => run_id) }, flags),
    ),
  )
  const results = new Map(cancelled.flat().map((result) => [result.run_id, result]))
  return run_ids.map((run_id, n) => results.get(found[n]?.run_id ?? '') ?? withoutCancel(run_id, found[n]))
}

/** The result for a run that the API could not cancel. */
function withoutCancel(run_id: string, run: DeploymentRun | undefined): Result {
  if (run === undefined) return { run_id, thread_id: '', outcome: 'not_found', status: null }
  return { run_id, thread_id: run.thread_id, outcome: 'not_active', status: run.status }
}

async function findRun(api: ApiClient, run_id: string): Promise<DeploymentRun | undefined> {
  return api.json<DeploymentRun>(`/runs/${encodeURIComponent(run_id)}`).catch((error: unknown) => {
    if (isGone(error)) return undefined
    throw error
  })
}

/** Cancels runs and returns the outcome for each; empty if there was nothing to cancel. */
async function cancel(
  api: ApiClient,
  body: SchemaTypes['run-cancel-many'] | { status: string },
  { action, wait }: RunsFlags,
): Promise<Result[]> {
  const headers = { prefer: 'return=representation' }
  const path = `/runs/cancel?action=${action}&wait=${wait === true}`
  return api.json<Result[]>(path, { method: 'POST', headers, body }).catch((error: unknown) => {
    if (isGone(error)) return []
    throw error
  })
}

function toRow({ run_id, outcome, status }: Result): string[] {
  return [
    run_id,
    outcome === 'requested' && !isUnfinished(status) ? OUTCOMES.ended : OUTCOMES[outcome],
    status ?? '',
  ]
}
