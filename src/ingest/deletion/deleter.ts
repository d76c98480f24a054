import type { Turns } from '../../base/background/background.ts'
import { chunksOf } from '../../base/chunks.ts'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { StartedSweep, Sweeps } from '../../base/background/sweeps.ts'
import { parseFilter } from '../../trace/filter/filter.ts'
import type { Ingester } from '../ingester.ts'
import type { CommentStore } from '../comment-store.ts'
import { newJob, startJobs } from '../jobs.ts'
import type { ShareStore } from '../share-store.ts'
import type { BlobStore } from '../store/blob-store.ts'
import type { DeletionJob, DeletionScope, DeletionStore } from './deletion-store.ts'
import { type RetentionDeps, retentionSweep } from './retention.ts'
import type { TraceDeletion } from './trace-deletion.ts'

/** Deletes TraceRuns in the background, on request and when they have expired. */
export interface Deleter {
  /**
   * Refuses new data of a trace from now on, and queues the job. Returns undefined for an unknown trace.
   * @throws AppError conflict when too many jobs wait
   */
  submit(workspace_id: string, scope: DeletionScope): Promise<DeletionJob | undefined>
  get(workspace_id: string, id: string): Promise<DeletionJob | undefined>
  /** Interrupts the running job, which the next start continues. */
  stop(): Promise<void>
}

export interface DeleterDeps {
  traces: TraceDeletion
  deletions: DeletionStore
  shares: Pick<ShareStore, 'removeTraces' | 'removeProject'>
  comments: Pick<CommentStore, 'removeRuns'>
  blobs: BlobStore
  ingester: Pick<Ingester, 'settled' | 'settledSoon'>
  /** Resolves when the store can be read. */
  ready: Promise<void>
  clock: Clock
  logger: Logger
  sweeps: Sweeps
}

/** Maximum number of jobs of single traces that are worked on together. */
const JOBS_AT_ONCE = 500
const TRACES_PAGE = 500
/** Number of deleted TraceRuns after which their space is freed, and when that is done at the end of a job. */
const FREED_AFTER = 20_000
const FREED_AT_END = 4_000
/** Time for which data of a deleted trace is refused. */
const REFUSED_MS = 24 * 3_600_000
/** Time within which data that was in flight at the request arrives. A job searches once more after this time. */
const ARRIVED_MS = 10_000
/**
 * Time for which the attachments of TraceRuns that are being deleted are not looked at: a sweep would find them in use,
 * and forget them. If the deletion is interrupted, they are looked at after this time.
 */
const HELD_MS = 3_600_000
/** Milliseconds between two sweeps. */
const SWEEP_MS = 3_600_000

/** Creates a deleter, which first continues the jobs of an earlier process. */
export function startDeleter(deps: DeleterDeps): Deleter {
  return new TraceDeleter(deps)
}

/** Jobs in the order in which they are worked on: those of single traces of one workspace are together. */
function together(jobs: readonly DeletionJob[]): DeletionJob[][] {
  const groups = Map.groupBy(jobs, ({ id, scope, workspace_id }) =>
    scope.kind === 'trace' ? workspace_id : id,
  )
  return [...groups.values()].flatMap((group) => chunksOf(group, JOBS_AT_ONCE))
}

class TraceDeleter implements Deleter {
  readonly #deps: DeleterDeps
  readonly #retention: StartedSweep
  /** Deletes the attachments to which no TraceRun refers any more. */
  readonly #attachments: StartedSweep
  readonly #space: StartedSweep
  readonly #turns: Turns
  /** Number of TraceRuns deleted since their space was last freed. */
  #deleted = 0

  constructor(deps: DeleterDeps) {
    this.#deps = deps
    const deletePage: RetentionDeps['deletePage'] = (...of) => this.#deletePage(...of)
    this.#retention = deps.sweeps.start(retentionSweep({ ...deps, deletePage }, SWEEP_MS))
    this.#attachments = deps.sweeps.start({
      name: 'attachments',
      everyMs: SWEEP_MS,
      begins: deps.ready,
      work: (signal) => this.#removeBlobs(signal),
    })
    this.#space = deps.sweeps.start({
      name: 'deleted_rows',
      everyMs: SWEEP_MS,
      work: (signal) => deps.traces.freeSpace(signal),
    })
    this.#turns = startJobs({
      ...deps,
      name: 'deletion',
      jobs: deps.deletions,
      groups: together,
      work: (jobs) => this.#work(jobs),
    })
  }

  async submit(workspace_id: string, scope: DeletionScope): Promise<DeletionJob | undefined> {
    const { deletions, clock } = this.#deps
    if (scope.kind === 'trace' && !(await this.#exists(workspace_id, scope.trace_id))) return undefined
    if (scope.kind === 'trace')
      await deletions.refuse(workspace_id, [scope.trace_id], clock.now() + REFUSED_MS)
    const job: DeletionJob = { ...newJob(workspace_id, clock), scope, deleted: 0 }
    await deletions.add(job)
    await this.#unshare(job)
    return job
  }

  /**
   * Removes the shares of a project or a trace at once; shares of matching traces are removed when the traces are
   * found.
   */
  async #unshare({ workspace_id, scope }: DeletionJob): Promise<void> {
    const { shares } = this.#deps
    if (scope.kind === 'project') await shares.removeProject(workspace_id, scope.project_id)
    if (scope.kind === 'trace') await shares.removeTraces(workspace_id, [scope.trace_id])
  }

  /** Whether the trace exists, including a trace that is acknowledged but not yet stored. */
  async #exists(workspace_id: string, trace_id: string): Promise<boolean> {
    const { traces, ingester } = this.#deps
    const find = async (): Promise<boolean> =>
      (await traces.runsOfTraces(workspace_id, [trace_id], 1)).length > 0
    if (await find()) return true
    await ingester.settled()
    return await find()
  }

  get(workspace_id: string, id: string): Promise<DeletionJob | undefined> {
    return this.#deps.deletions.get(workspace_id, id)
  }

  async stop(): Promise<void> {
    await Promise.all([
      this.#turns.stop(),
      this.#retention.stop(),
      this.#attachments.stop(),
      this.#space.stop(),
    ])
  }

  /** Deletes the runs found now. A job is done when late data has arrived and attachments are deleted. */
  async #work(jobs: readonly DeletionJob[]): Promise<DeletionJob[]> {
    const { deletions, clock, ingester } = this.#deps
    await ingester.settledSoon()
    const now = clock.now()
    const late = jobs.filter(({ created_at }) => now >= created_at + ARRIVED_MS)
    await this.#delete(jobs)
    if (this.#turns.signal.aborted || late.length === 0) return []
    await this.#attachments.now()
    if ((await deletions.notedBlobs(clock.now())).length > 0) return []
    if (this.#deleted >= FREED_AT_END) await this.#freeSpace()
    return late
  }

  /** Deletes what one job names, or several jobs of single traces. */
  async #delete(jobs: readonly DeletionJob[]): Promise<void> {
    const { traces } = this.#deps
    for (const job of jobs) await this.#unshare(job)
    const [job] = jobs
    if (job === undefined) return
    const { workspace_id, scope } = job
    if (scope.kind === 'project') {
      const before = job.created_at + ARRIVED_MS
      await this.#pages(job, () => traces.runsOfProject(workspace_id, scope.project_id, before, traces.page))
      await traces.deleteProjectFeedback(workspace_id, scope.project_id)
    } else if (scope.kind === 'trace') {
      await this.#single(jobs)
    } else if (scope.kind === 'late') {
      await this.#deletePage(workspace_id, scope.run_ids)
      await this.#traces(job, scope.trace_ids)
    } else {
      await this.#matching(job, scope)
    }
  }

  async #traces(job: DeletionJob, trace_ids: readonly string[]): Promise<void> {
    const { traces } = this.#deps
    await this.#pages(job, async () =>
      (await traces.runsOfTraces(job.workspace_id, trace_ids, traces.page)).map(({ run_id }) => run_id),
    )
  }

  /** Deletes the traces of jobs of one workspace, page after page. */
  async #single(jobs: readonly DeletionJob[]): Promise<void> {
    const { traces, deletions } = this.#deps
    const byTrace = Map.groupBy(jobs, ({ scope }) => (scope.kind === 'trace' ? scope.trace_id : ''))
    const workspace_id = jobs[0]?.workspace_id ?? ''
    for (;;) {
      const found = await traces.runsOfTraces(workspace_id, [...byTrace.keys()], traces.page)
      if (found.length === 0 || this.#turns.signal.aborted) return
      await this.#deleteRefused(
        workspace_id,
        found.map(({ run_id }) => run_id),
      )
      for (const [trace_id, some] of Map.groupBy(found, (run) => run.trace_id)) {
        for (const job of byTrace.get(trace_id) ?? []) {
          job.deleted += some.length
          await deletions.save(job)
        }
      }
    }
  }

  /**
   * Deletes the traces of matching TraceRuns. The job stores the traces of a page until they are deleted, because the
   * filter no longer finds the rest of a trace once the matching TraceRun is deleted.
   */
  async #matching(job: DeletionJob, scope: DeletionScope & { kind: 'runs' }): Promise<void> {
    const { traces, deletions, clock } = this.#deps
    const { project_id, filter, start_time } = scope
    // TraceRuns that arrive after the request are not part of the job. Otherwise the job might never end.
    const asked_at = job.created_at * 1000
    const query = {
      project_ids: [project_id],
      ...(filter !== undefined && { filter: parseFilter(filter) }),
      ...(start_time !== undefined && { start_time }),
      end_time: Math.min(scope.end_time ?? asked_at, asked_at),
      order: 'asc' as const,
      limit: TRACES_PAGE,
    }
    while (!this.#turns.signal.aborted) {
      const found = job.scope.kind === 'runs' ? (job.scope.pending ?? []) : []
      const trace_ids = found.length > 0 ? found : await traces.tracesOf(job.workspace_id, query)
      if (trace_ids.length === 0) return
      job.scope = { ...scope, pending: trace_ids }
      await deletions.save(job)
      await deletions.refuse(job.workspace_id, trace_ids, clock.now() + REFUSED_MS)
      await this.#deps.shares.removeTraces(job.workspace_id, trace_ids)
      const before = job.deleted
      await this.#traces(job, trace_ids)
      if (this.#turns.signal.aborted) return
      // If nothing was deleted, the next turn would find the same page again, without end.
      if (found.length === 0 && job.deleted === before)
        throw new AppError('internal', { message: 'A deletion found runs, but their traces have no runs.' })
      job.scope = { ...scope, pending: [] }
      await deletions.save(job)
    }
  }

  /** Deletes page after page until `next` returns an empty page. */
  async #pages(job: DeletionJob, next: () => Promise<string[]>): Promise<void> {
    for (;;) {
      const run_ids = await next()
      if (run_ids.length === 0 || this.#turns.signal.aborted) return
      await this.#deleteRefused(job.workspace_id, run_ids)
      job.deleted += run_ids.length
      await this.#deps.deletions.save(job)
    }
  }

  /** Deletes TraceRuns, and refuses new data of them. */
  async #deleteRefused(workspace_id: string, run_ids: readonly string[]): Promise<void> {
    const { deletions, clock } = this.#deps
    await deletions.refuse(workspace_id, run_ids, clock.now() + REFUSED_MS)
    await this.#deletePage(workspace_id, run_ids)
  }

  async #deletePage(workspace_id: string, run_ids: readonly string[], expired_at?: number): Promise<void> {
    const { traces, deletions, comments, clock } = this.#deps
    await comments.removeRuns(workspace_id, run_ids)
    const sha256s = await traces.attachmentsOf(workspace_id, run_ids)
    await deletions.noteBlobs(sha256s, clock.now() + HELD_MS)
    await traces.deleteRuns(workspace_id, run_ids, { attachments: sha256s, expired_at })
    // Again: a comment may have been written while its run was still there.
    await comments.removeRuns(workspace_id, run_ids)
    await deletions.noteBlobs(sha256s, clock.now())
    this.#deleted += run_ids.length
    if (this.#deleted >= FREED_AFTER) await this.#freeSpace()
  }

  /** A failure is counted and logged by the sweep, and does not keep a deletion from going on. */
  async #freeSpace(): Promise<void> {
    this.#deleted = 0
    await this.#space.now().catch(() => undefined)
  }

  async #removeBlobs(signal: AbortSignal): Promise<void> {
    const { deletions, traces, blobs, ingester, clock } = this.#deps
    const until = clock.now() - ARRIVED_MS
    for (;;) {
      const noted = await deletions.notedBlobs(until)
      if (noted.length === 0 || signal.aborted) return
      await ingester.settled()
      const used = await traces.usedBlobs(noted)
      const kept: string[] = []
      for (const sha256 of noted)
        if (!used.has(sha256) && !(await blobs.remove(sha256, until))) kept.push(sha256)
      await deletions.forgetBlobs(noted, until)
      // Attachments that were put again a moment ago are checked later.
      await deletions.noteBlobs(kept, clock.now())
    }
  }
}
