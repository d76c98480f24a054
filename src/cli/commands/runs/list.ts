import { chunksOf } from '../../../base/chunks.ts'
import { AppError } from '../../../base/errors.ts'
import { type ApiClient, connectDeployment, isGone } from '../../server/api-client.ts'
import { assertWord } from '../../arguments/command-arguments.ts'
import { type DeploymentRun, isUnfinished } from '../../server/deployment-run.ts'
import type { RunsFlags } from './flags.ts'
import { textTable } from '../../terminal/text-table.ts'

const TITLES = ['RUN', 'THREAD', 'GRAPH', 'STATUS', 'MADE', 'TOOK', 'ERROR']
const STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted']
const MAX_LIMIT = 1_000
/** Maximum number of threads that are searched, the most recently used first. */
const MAX_THREADS = 10_000
const THREADS_AT_ONCE = 100
const REQUESTS_AT_ONCE = 8
/** The status shown for an interrupted run while its thread waits for a resume. */
const WAITS = 'waits for a human'

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
  if (flags.asJson) {
    console.log(JSON.stringify(found, null, 2))
    return 0
  }
  const isUnfiltered = (flags.status ?? flags.thread) === undefined
  if (found.length > 0) console.log(await tableOf(api, found))
  else console.log(isUnfiltered ? 'There are no runs.' : 'There are no such runs.')
  if (found.length === 0) console.error(await nothingText(api, isUnfiltered))
  else if (found.length === limit) console.error(cutText(limit))
  return 0
}

/** The text that is printed when no run was found: the server and deployment that were searched, and how to start a run. */
async function nothingText(api: ApiClient, isUnfiltered: boolean): Promise<string> {
  const { weir } = await api.json<{ weir?: { deployment?: string; graphs?: string[] } }>('/info')
  const name = weir?.deployment === undefined ? '' : ` (deployment ${weir.deployment})`
  const other = 'another deployment of the server by --url http://HOST:PORT/deployments/NAME'
  const asked = `The list is of ${api.url}${name}; name ${other}.`
  if (!isUnfiltered) return asked
  const graph = weir?.graphs?.[0] ?? 'agent'
  return `${asked}\nStart a run with a LangGraph client: client.runs.create(thread_id, "${graph}", { input }); docs/first-steps.md has whole examples. A run without a thread of its own is not kept after its end.`
}

/** The hint below a list that may not be complete. */
function cutText(limit: number): string {
  const more = limit < MAX_LIMIT ? `--limit N shows more, up to ${MAX_LIMIT}; ` : ''
  return `These are the newest ${limit}, and there may be more: ${more}--thread ID and --status STATUS narrow the list.`
}

/** Runs as rows of a table. An interrupted run is marked while its thread waits for the resume. */
async function tableOf(api: ApiClient, runs: readonly DeploymentRun[]): Promise<string> {
  const stopped = runs.filter(({ weir }) => weir.interrupted)
  const threads = [...new Set(stopped.map(({ thread_id }) => thread_id))]
  const waiting = new Set<string>()
  for (const some of chunksOf(threads, REQUESTS_AT_ONCE)) {
    const states = await Promise.all(some.map((thread_id) => isWaiting(api, thread_id)))
    states.forEach((waits, index) => waits && waiting.add(some[index]!))
  }
  return textTable(
    TITLES,
    runs.map((run) => {
      // Runs are sorted newest first, and only the last run of a thread can be its interrupted one.
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
    const message = `There is no thread ${thread_id} (404); weir runs list shows the threads of runs.`
    throw new AppError('invalid_request', { message })
  })
}

/**
 * The newest runs of all threads. Threads are read in order of their last use, until the remaining ones were last used
 * before the oldest of the found runs was created. Only busy threads have active runs.
 */
async function newestRuns(api: ApiClient, page: Page): Promise<DeploymentRun[]> {
  let newest: DeploymentRun[] = []
  for (let offset = 0; offset < MAX_THREADS; offset += THREADS_AT_ONCE) {
    const threads = await api.json<{ thread_id: string; updated_at: string }[]>('/threads/search', {
      method: 'POST',
      body: {
        limit: THREADS_AT_ONCE,
        offset,
        sort_by: 'updated_at',
        sort_order: 'desc',
        select: ['thread_id', 'updated_at'],
        ...(isUnfinished(page.status ?? null) && { status: 'busy' }),
      },
    })
    for (const some of chunksOf(threads, REQUESTS_AT_ONCE)) {
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

/** Runs of a thread; none if it was deleted, like threads of stateless runs. */
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
  const tookMs = (isUnfinished(status) ? Date.now() : Date.parse(updated_at)) - Date.parse(created_at)
  const made = created_at.slice(0, 19).replace('T', ' ')
  return [
    run_id,
    thread_id,
    String(metadata['graph_id'] ?? ''),
    statusText,
    made,
    spanText(Math.max(0, tookMs)),
    errorText(run),
  ]
}

const MAX_ERROR_CHARS = 80

/** Class and message of a run's error in one short line; weir runs list --json has the complete error. */
export function errorText({ weir: { error } }: Pick<DeploymentRun, 'weir'>): string {
  if (!error) return ''
  const text = `${error.error}: ${error.message}`.replace(/\s+/g, ' ')
  return text.length > MAX_ERROR_CHARS ? `${text.slice(0, MAX_ERROR_CHARS - 1)}…` : text
}

function spanText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`
}
