import { setTimeout as delay } from 'node:timers/promises'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { ApiClient } from '../server/api-client.ts'
import type { ShownDeployment, ShownRevision } from './connection.ts'
import type { Progress } from './progress.ts'
import { secondsText, stepTimes } from './step-times.ts'

/** The exit code for the end of a revision: 0 if it is active. */
export type RevisionExit = 0 | 1

type LogPage = SchemaTypes['deployment-log-page']

const LOOK_MS = 500
/** Maximum time for waiting, build and start of a revision. */
const PATIENCE_MS = 30 * 60_000
const SHOWN_LINES = 30
const WORDS: Readonly<Record<string, string>> = {
  CREATING: 'reading',
  QUEUED: 'waiting',
  AWAITING_BUILD: 'waiting',
  BUILDING: 'building',
  AWAITING_DEPLOY: 'starting',
  DEPLOYING: 'starting',
}
const ISOLATION = {
  none: 'without isolation',
  uid: 'under a user id of its own',
  sandbox: 'in a sandbox',
  container: 'in a container',
} as const
const FAILED_STEPS: Readonly<Record<string, string>> = {
  CREATE_FAILED: 'source',
  BUILD_FAILED: 'built',
  DEPLOY_FAILED: 'started',
}

/**
 * Shows the progress of a revision until it has ended. Requests that the server does not answer are repeated.
 */
export async function followRevision(
  api: ApiClient,
  {
    deployment,
    revision,
    verbose,
  }: { deployment: ShownDeployment; revision: ShownRevision; verbose: boolean },
  progress: Progress,
): Promise<RevisionExit> {
  const begun = performance.now()
  const at = `/v2/deployments/${deployment.id}/revisions/${revision.id}`
  const log = buildLog(api, deployment, revision)
  let now = revision
  while (Object.hasOwn(WORDS, now.status)) {
    const elapsed = performance.now() - begun
    if (elapsed > PATIENCE_MS) return giveUp(deployment, now, progress)
    const lines = verbose || process.stderr.isTTY ? await log.next() : []
    if (verbose) for (const line of lines) progress.line(line)
    const text = now.status === 'BUILDING' ? (lines.at(-1) ?? log.last()) : ''
    progress.working(WORDS[now.status] ?? now.status, text.slice(0, 60), elapsed / 1000)
    await delay(LOOK_MS)
    now = await api.json<ShownRevision>(at).catch((error: unknown) => {
      if (error instanceof Error && 'answered' in error) throw error
      return now
    })
  }
  return now.status === 'DEPLOYED'
    ? await succeed(api, { deployment, revision: now, log: verbose ? undefined : log }, progress)
    : await fail(api, { deployment, revision: now, log: verbose ? undefined : log }, progress)
}

interface Ended {
  deployment: ShownDeployment
  revision: ShownRevision
  /** The log of the build; undefined if its lines have been shown. */
  log: BuildLog | undefined
}

async function succeed(api: ApiClient, { deployment, revision, log }: Ended, progress: Progress): Promise<0> {
  const { timings, graphs, number } = revision.weir
  const { steps, total } = stepTimes(timings)
  const { read, built, started = 0, checked = 0 } = steps
  for (const line of (await log?.warnings()) ?? []) progress.warn(line)
  if (read !== undefined) progress.done('read', secondsText(read))
  if (built !== undefined) progress.done('built', secondsText(built))
  const { weir, source_config } = await api.json<ShownDeployment>(`/v2/deployments/${deployment.id}`)
  progress.done('started', `${secondsText(started)}, ${ISOLATION[weir.isolation]}`)
  progress.done('checked', [secondsText(checked), ...(graphs ?? [])].join(', '))
  const old = weir.draining.map((one) => `${one.runs} runs end on revision ${one.number}`)
  const runs = old.length === 0 ? [`revision ${number} serves`] : old
  progress.done('switched', [...runs, `${secondsText(total)} in all`].join(', '))
  progress.result('succeeded', {
    deployment_id: deployment.id,
    message: 'Deployment successful!',
    url: source_config.custom_url,
    studio_url: weir.studio_url,
  })
  return 0
}

async function fail(api: ApiClient, { deployment, revision, log }: Ended, progress: Progress): Promise<1> {
  const { error, number } = revision.weir
  if (revision.status === 'BUILD_FAILED') for (const line of (await log?.tail()) ?? []) progress.line(line)
  const place = error?.file === undefined ? '' : `${error.file}:${error.line ?? 1}  `
  const step = FAILED_STEPS[revision.status]
  if (step !== undefined) progress.failed(step, `${place}${error?.message ?? revision.status}`)
  const hint = missingPackageHint(error?.message ?? '')
  if (hint !== undefined) progress.info(hint)
  const { weir } = await api.json<ShownDeployment>(`/v2/deployments/${deployment.id}`)
  const serving = weir.active_revision
  const rest = serving === null ? 'nothing serves yet' : `revision ${serving} goes on serving`
  const what = step === undefined ? `was ${revision.status.toLowerCase()}` : 'failed'
  progress.result('failed', { deployment_id: deployment.id, message: `revision ${number} ${what}; ${rest}` })
  return 1
}

/** The name of a package; files begin with a dot or a slash, and other modules with a scheme such as `node:`. */
const PACKAGE = /Cannot find (?:package|module) '(?:@[\w.-]+\/)?\w[\w.-]*['/]/

/** What to do when a graph imports a package that is not installed; undefined for any other error. */
export function missingPackageHint(message: string): string | undefined {
  if (/No module named '/.test(message)) return 'Add it to "dependencies" of langgraph.json.'
  if (PACKAGE.test(message)) return 'Add it to "dependencies" of package.json.'
  return undefined
}

function giveUp(deployment: ShownDeployment, { weir, status }: ShownRevision, progress: Progress): 1 {
  const message = `revision ${weir.number} is still ${status} after 30 minutes; weir deploy revisions ${deployment.name} shows it`
  progress.result('timed_out', { deployment_id: deployment.id, message })
  return 1
}

interface BuildLog {
  /** The lines since the last call. */
  next(): Promise<string[]>
  /** The last line so far; '' without one. */
  last(): string
  /** The last lines, the oldest first. */
  tail(): Promise<string[]>
  /** The warnings of the build, the oldest first. */
  warnings(): Promise<string[]>
}

function buildLog(api: ApiClient, deployment: ShownDeployment, revision: ShownRevision): BuildLog {
  const path = `/v1/projects/${deployment.id}/revisions/${revision.id}/build_logs`
  let offset: string | undefined
  let last = ''
  const read = (body: object): Promise<LogPage> =>
    api.json<LogPage>(path, { method: 'POST', body }).catch(() => ({ logs: [], next_offset: offset ?? '' }))
  return {
    last: () => last,
    async next() {
      const { logs, next_offset } = await read({ order: 'asc', limit: 1000, offset })
      offset = next_offset
      last = logs.at(-1)?.message ?? last
      return logs.map(({ message }) => message)
    },
    async tail() {
      const { logs } = await read({ order: 'desc', limit: SHOWN_LINES })
      return logs.map(({ message }) => message).toReversed()
    },
    async warnings() {
      const { logs } = await read({ order: 'asc', limit: SHOWN_LINES, level: 'WARNING' })
      return logs.map(({ message }) => message)
    },
  }
}
