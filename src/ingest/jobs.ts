import { startTurns, type Turns } from '../base/background/background.ts'
import type { Clock } from '../base/clock.ts'
import { toAppError } from '../base/errors.ts'
import { newUuid } from '../base/ids.ts'
import type { Logger } from '../base/log.ts'

/** Work that is asked for once, stored, and done in the background, also after a restart. */
export interface Job {
  workspace_id: string
  id: string
  status: 'queued' | 'running' | 'done' | 'failed'
  /** Why the job failed. */
  error: string | null
  /** Epoch milliseconds. */
  created_at: number
  finished_at: number | null
}

export interface JobStore<J extends Job> {
  /** @throws AppError conflict when too many jobs wait */
  add(job: J): Promise<void>
  /** Calls the listener whenever a job is added in this process. */
  onAdded(listener: () => void): void
  /** Stores the state of a job, unless the job has ended on another server. */
  save(job: J): Promise<void>
  get(workspace_id: string, id: string): Promise<J | undefined>
  /** Queued and running jobs of all workspaces, oldest first. */
  unfinished(): Promise<J[]>
}

interface JobWork<J extends Job> {
  /** Begins the lines of the log. */
  name: string
  jobs: JobStore<J>
  /** Resolves when the store can be read. */
  ready: Promise<void>
  clock: Clock
  logger: Logger
  /** What one turn works on, of the unfinished jobs (at least one): group after group, those of one group together. */
  groups(jobs: readonly J[]): J[][]
  /** Works on a group, and returns those of it that are done; the others get another turn. */
  work(jobs: readonly J[]): Promise<readonly J[]>
}

const RETRY_MS = 1_000
/** Milliseconds between two searches for jobs that another server left. */
const SEARCH_MS = 3_600_000

/** The fields of a job that nothing was done for. */
export function newJob(workspace_id: string, clock: Clock): Job {
  const state = { status: 'queued', error: null, created_at: clock.now(), finished_at: null } as const
  return { workspace_id, id: newUuid(), ...state }
}

/**
 * Works on jobs until each is done or has failed; first on those of an earlier process. They wait for an unreachable
 * store; any other error ends a job, after each of its group was tried alone.
 */
export function startJobs<J extends Job>({
  name,
  jobs,
  ready,
  clock,
  logger,
  groups,
  work,
}: JobWork<J>): Turns {
  /** Number of jobs that the current turn has ended. */
  let ended = 0
  const end = async (job: J, state: { status: Job['status']; error: string | null }): Promise<void> => {
    Object.assign(job, { ...state, finished_at: clock.now() })
    try {
      await jobs.save(job)
      ended += 1
    } catch (error) {
      logger.warn({ err: error, job: job.id }, `${name}: not saved`)
    }
  }
  const workOn = async (group: readonly J[]): Promise<void> => {
    for (const job of group) job.status = 'running'
    try {
      for (const job of await work(group)) await end(job, { status: 'done', error: null })
    } catch (thrown) {
      const error = toAppError(thrown)
      const [job, ...others] = group
      if (turns.signal.aborted || error.retryable || job === undefined) return
      if (others.length > 0) {
        for (const one of group) await workOn([one])
        return
      }
      logger.error({ err: thrown, job: job.id }, `${name}: a job failed`)
      await end(job, { status: 'failed', error: error.message })
    }
  }
  const turns = startTurns(ready, async () => {
    const unfinished = await jobs.unfinished().catch(() => undefined)
    if (unfinished === undefined) return RETRY_MS
    if (unfinished.length === 0) return SEARCH_MS
    ended = 0
    for (const group of groups(unfinished)) if (!turns.signal.aborted) await workOn(group)
    return ended > 0 ? 0 : RETRY_MS
  })
  jobs.onAdded(turns.wake)
  return turns
}
