import type { Turns } from '../../base/background/background.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import { pause } from '../../base/pause.ts'
import { type Filter, parseFilter } from '../../trace/filter/filter.ts'
import { newJob, startJobs } from '../jobs.ts'
import type { LaneTasks } from '../lane-tasks.ts'
import type { PriceStore } from './price-store.ts'
import type { ProjectStore } from '../project-store.ts'
import type { RepriceJob, RepriceJobStore, RepriceScope } from './reprice-jobs.ts'
import type { TraceStore } from '../store/trace-store.ts'
import type { WorkerPool } from '../../worker-threads/worker-pool.ts'

/** Computes stored costs again after prices have changed, in the background. */
export interface Repricer {
  /**
   * Queues a job; a queued job with the same scope is returned instead. @throws AppError conflict when too many are
   * waiting
   */
  submit(workspace_id: string, scope: RepriceScope): Promise<RepriceJob>
  get(workspace_id: string, id: string): Promise<RepriceJob | undefined>
  /** Stops the running job at its position; the next start continues it. */
  stop(): Promise<void>
}

export interface RepricerDeps {
  store: TraceStore
  /** The lane that computes rows. */
  lane: WorkerPool
  prices: PriceStore
  projects: ProjectStore
  jobs: RepriceJobStore
  /** Whether everything received before the time (epoch milliseconds) is stored. */
  isStored(time: number): boolean
  /** Resolves when the store can be read. */
  ready: Promise<void>
  clock: Clock
  logger: Logger
}

/** TraceRuns of one page: small enough that batches of ingest can run in between. */
const PAGE = 4_000
const PROJECTS_PAGE = 1_000
const POLL_MS = 50

/** Creates a repricer, which first continues the jobs of an earlier process. */
export function startRepricer(deps: RepricerDeps): Repricer {
  return new CostRepricer(deps)
}

class CostRepricer implements Repricer {
  readonly #deps: RepricerDeps
  readonly #counted: Filter = parseFilter(
    'or(eq(run_type, "llm"), eq(run_type, "embedding"), eq(run_type, "retriever"))',
  )
  readonly #turns: Turns

  constructor(deps: RepricerDeps) {
    this.#deps = deps
    this.#turns = startJobs({
      ...deps,
      name: 'reprice',
      groups: (jobs) => [jobs.slice(0, 1)],
      work: async (jobs) => {
        for (const job of jobs) await this.#reprice(job)
        return this.#turns.signal.aborted ? [] : jobs.map((job) => Object.assign(job, { progress: 1 }))
      },
    })
  }

  async submit(workspace_id: string, scope: RepriceScope): Promise<RepriceJob> {
    const { jobs, clock } = this.#deps
    const waiting = await jobs.unfinished()
    const same = waiting.find(
      (job) => job.status === 'queued' && job.workspace_id === workspace_id && isSame(job, scope),
    )
    if (same) return same
    const job: RepriceJob = {
      ...scope,
      ...newJob(workspace_id, clock),
      position: null,
      progress: 0,
      examined: 0,
      changed: 0,
    }
    await jobs.add(job)
    return job
  }

  get(workspace_id: string, id: string): Promise<RepriceJob | undefined> {
    return this.#deps.jobs.get(workspace_id, id)
  }

  stop(): Promise<void> {
    return this.#turns.stop()
  }

  /** Processes the projects in order of their ids, and each project in order of time, from the position of the job. */
  async #reprice(job: RepriceJob): Promise<void> {
    const { signal } = this.#turns
    job.status = 'running'
    await this.#deps.jobs.save(job)
    // Rows that are being stored at this moment may still have the prices from before the request for the job.
    while (!this.#deps.isStored(job.created_at) && !signal.aborted) await pause(POLL_MS, signal)
    const projects = await this.#projectIds(job)
    for (const [i, project_id] of projects.entries()) {
      if (job.position !== null && project_id < job.position.project_id) continue
      if (job.position?.project_id !== project_id) job.position = { project_id, after: null }
      while (!signal.aborted && (await this.#page(job))) {
        const at = job.position.after?.sort_time ?? job.start_time
        const share = (at - job.start_time) / (job.end_time - job.start_time)
        job.progress = (i + Math.min(1, Math.max(0, share))) / projects.length
        await this.#deps.jobs.save(job)
      }
    }
  }

  /** Computes one page and moves the job's position after it. Returns false for the last page of a project. */
  async #page(job: RepriceJob): Promise<boolean> {
    const { store, lane, prices } = this.#deps
    const { project_id, after } = job.position!
    const { start_time, end_time } = job
    const stored = await store.list(job.workspace_id, {
      project_ids: [project_id],
      filter: this.#counted,
      start_time,
      end_time,
      order: 'asc',
      limit: PAGE,
      ...(after && { after }),
    })
    if (stored.length === 0) return false
    const input: LaneTasks['reprice']['input'] = { rows: stored, prices: await prices.snapshot() }
    const done = await lane.run<LaneTasks['reprice']['output']>(
      { name: 'reprice', input },
      this.#turns.signal,
    )
    if (done.changed > 0) await store.insert('runs', [done.rows], this.#turns.signal)
    job.examined += done.examined
    job.changed += done.changed
    if (done.last) job.position = { project_id, after: done.last }
    return done.examined === PAGE
  }

  async #projectIds({ workspace_id, project_ids }: RepriceJob): Promise<string[]> {
    if (project_ids) return [...new Set(project_ids)].sort()
    const ids: string[] = []
    for (let offset = 0; ; ) {
      const page = await this.#deps.projects.list(workspace_id, { limit: PROJECTS_PAGE, offset })
      ids.push(...page.projects.map(({ id }) => id))
      offset += page.projects.length
      if (!page.more || page.projects.length === 0) return ids.sort()
    }
  }
}

function isSame(a: RepriceScope, b: RepriceScope): boolean {
  const key = ({ start_time, end_time, project_ids }: RepriceScope): string =>
    JSON.stringify([start_time, end_time, project_ids?.toSorted() ?? null])
  return key(a) === key(b)
}
