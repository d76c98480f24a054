import { AppError } from '../base/errors.ts'
import { type ApiClient, connectDeployment, isGone } from './api-client.ts'
import { assertWord } from './command-arguments.ts'
import { type DeploymentRun, isActive } from './deployment-run.ts'
import type { RunsFlags } from './runs.ts'
import { textTable } from './text-table.ts'

const TITLES = ['RUN', 'THREAD', 'GRAPH', 'STATUS', 'MADE', 'TOOK']
const STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted']
const MAX_LIMIT = 1_000
/** Threads that are looked through at most, those that were used last. */
const MAX_THREADS = 10_000
const THREADS_AT_ONCE = 100
const REQUESTS_AT_ONCE = 8
/** Shown for a run whose thread goes on only after an answer. */
const WAITS = 'waits for a human'

/** `weir runs list`. */
export async function listRuns(flags: RunsFlags): Promise<number> {
  const limit = /^\d{1,4}$/.test(flags.limit) ? Number(flags.limit) : 0
  if (limit < 1 || limit > MAX_LIMIT)
    throw new AppError('invalid_request', {
      message: `--limit must be a number from 1 to ${MAX_LIMIT}. It is "${flags.limit}".`,
    })
  if (flags.status !== undefined) assertWord('--status', flags.status, STATUSES)
  const api = await connectDeployment(flags)
  const page = { limit, status: flags.status }
  const found =
    flags.thread === undefined ? await newestRuns(api, page) : await runsOfNamed(api, flags.thread, page)
  if (flags.json === true) console.log(JSON.stringify(found, null, 2))
  else if (found.length === 0) console.log('There are no such runs.')
  else console.log(await tableOf(api, found))
  return 0
}

/** Runs as rows; of those that stopped at a question, the one whose thread still waits for the answer says so. */
async function tableOf(api: ApiClient, runs: readonly DeploymentRun[]): Promise<string> {
  const stopped = runs.filter(({ weir }) => weir.interrupted)
  const threads = [...new Set(stopped.map(({ thread_id }) => thread_id))]
  const waiting = new Set<string>()
  for (let n = 0; n < threads.length; n += REQUESTS_AT_ONCE) {
    const some = threads.slice(n, n + REQUESTS_AT_ONCE)
    const states = await Promise.all(some.map((thread_id) => isWaiting(api, thread_id)))
    states.forEach((waits, index) => waits && waiting.add(some[index]!))
  }
  return textTable(
    TITLES,
    runs.map((run) => {
      // Runs come newest first: only the last one of a thread can be what it waits at.
      const waits = run.weir.interrupted && waiting.delete(run.thread_id)
      return toRow(run, waits ? `${run.status}, ${WAITS}` : run.status)
    }),
  )
}

async function isWaiting(api: ApiClient, thread_id: string): Promise<boolean> {
  const path = `/threads/${encodeURIComponent(thread_id)}`
  const thread = await api.json<{ status: string }>(path).catch((error: unknown) => {
    if (isGone(error)) return undefined
    throw error
  })
  return thread?.status === 'interrupted'
}

interface Page {
  limit: number
  status: string | undefined
}

async function runsOf(api: ApiClient, thread_id: string, { limit, status }: Page): Promise<DeploymentRun[]> {
  const query = new URLSearchParams({ limit: String(limit), ...(status !== undefined && { status }) })
  return api.json(`/threads/${encodeURIComponent(thread_id)}/runs?${String(query)}`)
}

async function runsOfNamed(api: ApiClient, thread_id: string, page: Page): Promise<DeploymentRun[]> {
  return runsOf(api, thread_id, page).catch((error: unknown) => {
    if (!isGone(error)) throw error
    const message = `There is no thread ${thread_id} (404); weir runs list tells the threads of runs.`
    throw new AppError('invalid_request', { message })
  })
}

/**
 * The newest runs of all threads: threads are looked through from the one that was used last, until those that remain
 * were last used before the oldest run that is wanted was made. Only threads that are busy have active runs.
 */
async function newestRuns(api: ApiClient, page: Page): Promise<DeploymentRun[]> {
  let newest: DeploymentRun[] = []
  for (let offset = 0; offset < MAX_THREADS; offset += THREADS_AT_ONCE) {
    const threads = await api.json<{ thread_id: string; updated_at: string }[]>('/threads/search', {
      method: 'POST',
      body: {
        ...{ limit: THREADS_AT_ONCE, offset, sort_by: 'updated_at', sort_order: 'desc' },
        select: ['thread_id', 'updated_at'],
        ...(isActive(page.status ?? null) && { status: 'busy' }),
      },
    })
    for (let n = 0; n < threads.length; n += REQUESTS_AT_ONCE) {
      const some = threads.slice(n, n + REQUESTS_AT_ONCE)
      if (newest.length === page.limit && (some[0]?.updated_at ?? '') < (newest.at(-1)?.created_at ?? ''))
        return newest
      const found = await Promise.all(some.map(({ thread_id }) => runsIfThere(api, thread_id, page)))
      newest = [...newest, ...found.flat()].sort(byNewest).slice(0, page.limit)
    }
    if (threads.length < THREADS_AT_ONCE) return newest
  }
  console.error(`Only the ${MAX_THREADS} threads that were used last were looked through.`)
  return newest
}

/** A thread may go away meanwhile, as those of stateless runs do. */
async function runsIfThere(api: ApiClient, thread_id: string, page: Page): Promise<DeploymentRun[]> {
  return runsOf(api, thread_id, page).catch((error: unknown) => {
    if (isGone(error)) return []
    throw error
  })
}

function byNewest(a: DeploymentRun, b: DeploymentRun): number {
  return b.created_at.localeCompare(a.created_at) || b.run_id.localeCompare(a.run_id)
}

function toRow(run: DeploymentRun, statusText: string): string[] {
  const { run_id, thread_id, metadata, status, created_at, updated_at } = run
  const tookMs = (isActive(status) ? Date.now() : Date.parse(updated_at)) - Date.parse(created_at)
  const made = created_at.slice(0, 19).replace('T', ' ')
  return [
    run_id,
    thread_id,
    String(metadata['graph_id'] ?? ''),
    statusText,
    made,
    spanText(Math.max(0, tookMs)),
  ]
}

function spanText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`
}
