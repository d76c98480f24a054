import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { judgedRun } from '../../trace/decode/answered-runs.ts'
import { pastTime } from '../arguments/time-flag.ts'
import { type ApiClient, connectApi, Refusal } from '../server/api-client.ts'
import type { TargetFlags } from '../server/find-target.ts'
import type { ReportedRun } from '../../trace/derive/report.ts'

/** Fields that have the verdicts of a run and its issues. */
const SELECT = ['name', 'run_type', 'llm', 'issues']
const PAGE = 100
const STORE_TRIES = 60
const STORE_PAUSE_MS = 500
/** Time after which the server shows what it accepted, for a key that may not read the state of ingestion. */
const VISIBLE_AFTER_MS = 2_000

export interface ProjectRunsOptions extends TargetFlags {
  tenant?: string | undefined
  project: string
  /** A time, or how long ago. */
  since: string
}

/**
 * The runs of a project that started after a time, oldest first, with the verdicts of the server. @throws AppError
 * not_found for an unknown project
 */
export async function* readProjectRuns(options: ProjectRunsOptions): AsyncGenerator<ReportedRun> {
  const start_time = pastTime({ flag: '--since', text: options.since }, Date.now())
  const api = await connectApi(options)
  await untilStored(api)
  const { project } = options
  const [found] = await api.json<SchemaTypes['session'][]>(`/sessions?name=${encodeURIComponent(project)}`)
  if (found === undefined) throw new AppError('not_found', { message: `There is no project "${project}".` })
  let cursor: string | null = null
  do {
    const query = { session: [found.id], start_time, select: SELECT, order: 'asc', limit: PAGE, cursor }
    const page: { runs: JsonObject[]; cursors: { next: string | null } } = await api.json('/runs/query', {
      method: 'POST',
      body: query,
    })
    for (const run of page.runs) {
      const judged = judgedRun(run, true)
      if (judged !== undefined) yield judged
    }
    cursor = page.cursors.next
  } while (cursor !== null)
}

/**
 * Waits until the server has stored what it had accepted when this was called. @throws AppError store_unavailable
 * when that takes longer than half a minute
 */
async function untilStored(api: ApiClient): Promise<void> {
  const called = Date.now()
  for (let tries = 0; tries < STORE_TRIES; tries++) {
    const health = await readHealth(api)
    if (health === undefined) return pause(VISIBLE_AFTER_MS)
    const { oldest_waiting_at } = health
    if (oldest_waiting_at === null || Date.parse(oldest_waiting_at) > called) return
    await pause(STORE_PAUSE_MS)
  }
  throw new AppError('store_unavailable', {
    message:
      'The server has accepted runs that it has not stored yet (GET /api/v1/ingest/health). Try again.',
  })
}

/** Undefined if the key may not read it. */
async function readHealth(api: ApiClient): Promise<SchemaTypes['ingest-health'] | undefined> {
  return api.json<SchemaTypes['ingest-health']>('/ingest/health').catch((error: unknown) => {
    if (error instanceof Refusal && error.answered === 403) return undefined
    throw error
  })
}
