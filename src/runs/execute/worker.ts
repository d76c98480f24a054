import { within } from '../../base/background/within.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import { createDeploymentUse, type Deployment, type DeploymentUse, runKey } from '../deployment.ts'
import { createLeaseWatch, type LeaseWatch } from './lease-watch.ts'
import { createDueTimer, type DueTimer } from './due-timer.ts'
import type { EarlyCancels } from './early-cancels.ts'
import type { CancelAction, Tenant } from '../model.ts'
import { refreshThread } from './refresh-thread.ts'
import { createRunEndings, type QuietEnd, type RunEndings, type RunEndingsDeps } from './after-end.ts'
import { type JobDeps, type JobEnd, type RunJob, startRunJob } from './job.ts'
import { createRunSlots, type RunSlots } from './slots.ts'
import type {
  RunAdmission,
  Admitted,
  AllAdmitted,
  CancelOrder,
  CancelResult,
  CancelSelector,
  Claim,
  Claimer,
  Lease,
  Recovered,
} from '../run-store.ts'
import type { UnseenEnds } from '../streams-v2/follow/unseen-ends.ts'
import type { WakeMessage } from './wake.ts'

export interface WorkerDeps extends Omit<JobDeps, 'host' | 'project'>, RunEndingsDeps {
  earlyCancels: EarlyCancels
  unseenEnds: Pick<UnseenEnds, 'receive'>
  /**
   * Deployments by `deployment_id`. The map may change while the worker runs. A claimed run stays on the host of its
   * claim.
   */
  deployments: ReadonlyMap<string, Deployment>
  /** Counts of the users of each host, shared with the other parts of the server. Default: new counts. */
  use?: DeploymentUse
  claimer: Omit<Claimer, 'revision_id'>
  /** See `Claimer.abandoned_above`. By default, runs of later versions wait. */
  abandonedAbove?(): number | undefined
  clock: Clock
  logger: Logger
  metrics: Metrics
}

export interface Worker {
  /**
   * Admits a run, starts it at once if no other run is before it, and notifies the workers of the runs that it cancels.
   */
  admit(tenant: Tenant, admission: Omit<RunAdmission, 'claim'>): Promise<Admitted>
  /** Admits runs on new threads, all or none, and claims them when slots are free. */
  admitAll(tenant: Tenant, admissions: readonly Omit<RunAdmission, 'claim'>[]): Promise<AllAdmitted>
  cancel(tenant: Tenant, selector: CancelSelector, action: CancelAction): Promise<CancelResult[]>
  /** Searches for runs to claim, after a deployment was added. */
  look(): void
  /** Number of runs that this process executes for this revision of a deployment. */
  running(deployment: Deployment): number
  /**
   * Returns the runs of a replaced revision to the store: the active revision continues them from their last
   * checkpoints.
   */
  handBack(deployment: Deployment): void
  /** Abandons the running runs of a deployment that is being removed. */
  lose(deployment: Deployment): void
  /** Claims nothing more, waits `graceMs` for running runs, and returns the others to the store to be claimed later. */
  stop(graceMs: number): Promise<void>
}

/** Time limit for returning runs; runs that remain after it are abandoned. */
const HAND_BACK_MS = 10_000
/** Maximum time between two checks for due runs, for processes that share their runs. */
const SHARED_LOOK_MS = 5_000
/** Maximum time between two checks for due runs: timers have a maximum delay, and the system clock may be changed. */
const MAX_WAIT_MS = 3_600_000

interface Work extends WorkerDeps {
  use: DeploymentUse
  jobs: Map<string, RunJob>
  slots: RunSlots
  endings: RunEndings
  timer: DueTimer
  counted(attemptEnd: JobEnd['attemptEnd']): void
  /** Watches the leases of all processes, if there may be several. */
  watch: LeaseWatch | undefined
  stopping: boolean
}

/** Recovers the runs of earlier processes and starts the worker. */
export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const jobs = new Map<string, RunJob>()
  const look = (): Promise<number | undefined> => claimAll(work)
  const work: Work = {
    ...deps,
    use: deps.use ?? createDeploymentUse(),
    jobs,
    slots: createRunSlots(),
    endings: createRunEndings(deps),
    timer: createDueTimer({ ...deps, look, maxWaitMs: MAX_WAIT_MS }),
    counted: countRuns(deps, jobs),
    watch: deps.wake.shared ? createLeaseWatch(deps.claimer.lease_ms) : undefined,
    stopping: false,
  }
  await recover(work, deps.claimer.owner)
  deps.wake.listen((message) => receive(work, message))
  work.timer.ask()
  const renewal = renewLeases(work)
  return {
    admit: (tenant, admission) => admit(work, tenant, admission),
    admitAll: (tenant, admissions) => admitAll(work, tenant, admissions),
    cancel: (tenant, selector, action) => cancel(work, tenant, selector, action),
    look: () => work.timer.ask(),
    running: (deployment) => jobsOf(work, deployment).length,
    handBack: (deployment) => jobsOf(work, deployment).forEach((job) => job.handBack()),
    lose: (deployment) => jobsOf(work, deployment).forEach((job) => job.lose()),
    async stop(graceMs) {
      await stop(work, graceMs)
      clearInterval(renewal)
    },
  }
}

function jobsOf({ jobs }: Work, { deployment_id, revision_id }: Deployment): RunJob[] {
  return [...jobs.values()].filter(
    ({ claim }) => claim.deployment_id === deployment_id && claim.run.revision_id === revision_id,
  )
}

async function admit(work: Work, tenant: Tenant, admission: Omit<RunAdmission, 'claim'>): Promise<Admitted> {
  const { slots, store, timer, use } = work
  const deployment = work.deployments.get(tenant.deployment_id)
  const taken = deployment === undefined ? 0 : slots.take(deployment, 1)
  const leave = deployment && use.enter(deployment)
  let used = 0
  try {
    const claimer = deployment !== undefined && taken > 0 ? claimerOf(work, deployment) : null
    const made = { ...admission, claim: claimer, revision_id: deployment?.revision_id ?? null }
    const admitted = await store.admit(tenant, made)
    if (admitted.kind !== 'created') return admitted
    const { claim, run, cancelling, ended } = admitted
    if (claim !== null && deployment !== undefined) {
      used = 1
      start(work, deployment, claim)
    } else if (run.due_at > run.created_at) timer.dueAt(run.due_at)
    else {
      // No slot was free before the transaction. Some may have become free since.
      if (taken === 0) timer.ask()
      work.wake.send({ kind: 'work' })
    }
    for (const order of cancelling) pass(work, tenant, order)
    for (const end of ended) announceEnd(work, tenant, { ...end, thread_id: run.thread_id })
    return admitted
  } finally {
    if (deployment !== undefined) slots.give(deployment, taken - used)
    leave?.()
  }
}

async function admitAll(
  { store, timer, wake, deployments }: Work,
  tenant: Tenant,
  admissions: readonly Omit<RunAdmission, 'claim'>[],
): Promise<AllAdmitted> {
  const revision_id = deployments.get(tenant.deployment_id)?.revision_id ?? null
  const made = admissions.map((admission) => ({ ...admission, revision_id }))
  const all = await store.admitAll(tenant, made)
  if (all.kind === 'created') {
    timer.ask()
    wake.send({ kind: 'work' })
  }
  return all
}

async function cancel(
  work: Work,
  tenant: Tenant,
  selector: CancelSelector,
  action: CancelAction,
): Promise<CancelResult[]> {
  const results = await work.store.requestCancel(tenant, selector, action)
  for (const { run_id, thread_id, outcome, status } of results) {
    if (outcome === 'requested') pass(work, tenant, { run_id, thread_id, action })
    if (outcome === 'ended' && status !== null) announceEnd(work, tenant, { run_id, thread_id, status })
  }
  return results
}

/** Passes a cancel to the job of the run, or to the process that executes it. */
function pass({ jobs, wake }: Work, { deployment_id }: Tenant, { run_id, action }: CancelOrder): void {
  const job = jobs.get(runKey({ deployment_id }, run_id))
  if (job !== undefined) job.cancel(action)
  else wake.send({ kind: 'cancel', deployment_id, run_id, action })
}

function announceEnd(
  { endings, logger }: Work,
  { workspace_id, deployment_id }: Tenant,
  end: QuietEnd,
): void {
  endings
    .quiet({ workspace_id, deployment_id }, end)
    .catch((error: unknown) =>
      logger.error({ err: error, run_id: end.run_id }, 'could not publish the end of a run'),
    )
}

/** The claimer of runs for this deployment: this process, with the revision that will execute the runs. */
function claimerOf({ claimer, abandonedAbove }: Work, { revision_id, graphs }: Deployment): Claimer {
  const abandoned_above = abandonedAbove?.()
  return { ...claimer, revision_id, abandoned_above, ...(graphs && { graphs: graphs() }) }
}

function start(work: Work, deployment: Deployment, claim: Claim): void {
  const { jobs, logger, use } = work
  const leave = use.enter(deployment)
  const job = startRunJob({ ...work, host: deployment.host, project: deployment.name }, claim)
  const key = runKey(claim, claim.run_id)
  // An earlier job of the run may still be here: the store ended its lease, but the answer to its last write was lost.
  jobs.get(key)?.lose()
  jobs.set(key, job)
  job.done
    .then((end) => closeJob(work, deployment, job, end))
    .catch((error: unknown) =>
      logger.error({ err: error, run_id: claim.run_id }, 'could not publish the end of a run'),
    )
    .finally(leave)
}

async function closeJob(work: Work, deployment: Deployment, job: RunJob, end: JobEnd): Promise<void> {
  const { jobs, slots, timer, wake, endings } = work
  const { claim } = job
  const { attemptEnd } = end
  const key = runKey(claim, claim.run_id)
  if (jobs.get(key) === job) jobs.delete(key)
  work.counted(attemptEnd)
  const wasFull = slots.give(deployment, 1)
  const hasMore = attemptEnd.kind === 'retried' || (attemptEnd.kind === 'ended' && attemptEnd.more)
  if (hasMore || wasFull) timer.ask()
  // The next run of the thread may need a graph or a revision that only another process has.
  const isShared = deployment.graphs !== undefined || deployment.revision_id !== null
  if (hasMore && (work.stopping || isShared)) wake.send({ kind: 'work' })
  if (attemptEnd.kind === 'ended') await endings.executed(deployment, claim, end, attemptEnd.status)
}

/** Claims as many runs as possible; returns the time at which the next one becomes due. */
async function claimAll(work: Work): Promise<number | undefined> {
  for (const deployment of work.deployments.values()) await claimFor(work, deployment)
  if (work.stopping) return undefined
  const next = await work.store.nextDue()
  // Another process may have created a run, and ended before it claimed the run. So shared runs are checked often.
  return work.wake.shared ? Math.min(next ?? Infinity, work.clock.now() + SHARED_LOOK_MS) : next
}

async function claimFor(work: Work, deployment: Deployment): Promise<void> {
  const { slots, store, wake, use } = work
  const taken = slots.take(deployment, deployment.concurrency)
  if (taken === 0) return
  const leave = use.enter(deployment)
  let claims: Claim[] = []
  try {
    claims = await store.claim(claimerOf(work, deployment), [deployment.deployment_id], taken)
    for (const claim of claims) start(work, deployment, claim)
  } finally {
    slots.give(deployment, taken - claims.length)
    leave()
  }
  // All free slots were used, so more runs may be due. Other processes may have slots for them.
  if (claims.length === taken) wake.send({ kind: 'work' })
}

/** Renews the leases of all jobs, and applies what the renewal reports. */
function renewLeases(work: Work): NodeJS.Timeout {
  let renewing = false
  const renewal = setInterval(() => {
    if (renewing) return
    renewing = true
    renewAll(work)
      .catch((error: unknown) => work.logger.warn({ err: error }, 'leases cannot be renewed now'))
      .finally(() => {
        renewing = false
      })
  }, work.claimer.lease_ms / 3)
  return renewal.unref()
}

async function renewAll(work: Work): Promise<void> {
  const { jobs, store, claimer, wake } = work
  const held = Map.groupBy(jobs.values(), ({ claim }) => claim.deployment_id)
  for (const [deployment_id, theirs] of held) {
    const leases = theirs.map(({ claim }) => leaseOf(claim))
    const { lost, cancel: orders } = await store.renew(leases, claimer.lease_ms)
    // During the renewal, a later job of the same run may have replaced one of these in `jobs`.
    for (const job of theirs) if (lost.includes(job.claim.run_id)) job.lose()
    for (const { run_id, action } of orders) jobs.get(runKey({ deployment_id }, run_id))?.cancel(action)
  }
  // An empty owner matches no lease, so this recovers only expired ones.
  if (wake.shared && !work.stopping) await recover(work, '')
}

function leaseOf({ workspace_id, deployment_id, run_id, thread_id, token }: Claim): Lease {
  return { workspace_id, deployment_id, run_id, thread_id, token }
}

async function recover(work: Work, owner: string): Promise<void> {
  const recovered = await work.store.recover(owner, work.rules.max_attempts, work.watch)
  if (recovered.length === 0) return
  work.logger.info({ runs: recovered.length }, 'queued runs of a lost server again')
  work.timer.ask()
  for (const run of recovered) if (run.status !== 'pending') void closeRecovered(work, run)
}

/** Sets the thread's state to the last checkpoint of an interrupted or failed run. */
async function closeRecovered(work: Work, recovered: Recovered): Promise<void> {
  const { store, deployments, logger } = work
  const { workspace_id, deployment_id, run_id, thread_id, status } = recovered
  const tenant = { workspace_id, deployment_id }
  const host = deployments.get(deployment_id)?.host
  try {
    const run = await store.getRun(tenant, thread_id, run_id)
    if (host !== undefined && run !== undefined) await refreshThread(work, host, tenant, run)
  } catch (error) {
    logger.warn({ err: error, run_id }, 'the state of a thread could not be updated')
  }
  announceEnd(work, tenant, { run_id, thread_id, status })
}

/** Handles a notification from another process. */
function receive({ timer, jobs, waiters, earlyCancels, unseenEnds }: Work, message: WakeMessage): void {
  if (message.kind === 'work') timer.ask()
  else if (message.kind === 'cancel') jobs.get(runKey(message, message.run_id))?.cancel(message.action)
  else if (message.kind === 'ended') waiters.resolve(runKey(message, message.run_id), undefined)
  else if (message.kind === 'early_cancel') earlyCancels.remember(message, message.action)
  else if (message.kind === 'unseen_ends' || message.kind === 'seen_end') unseenEnds.receive(message)
  else {
    timer.ask()
    waiters.recheckAll()
  }
}

async function stop(work: Work, graceMs: number): Promise<void> {
  const { jobs, slots, timer } = work
  work.stopping = true
  slots.close()
  await timer.stop()
  const allDone = (): Promise<unknown> => Promise.all([...jobs.values()].map(({ done }) => done))
  await within(allDone(), graceMs, () => undefined)
  for (const job of jobs.values()) job.handBack()
  await within(allDone(), HAND_BACK_MS, () => undefined)
  for (const job of jobs.values()) job.lose()
}

function countRuns(
  { metrics }: Pick<WorkerDeps, 'metrics'>,
  jobs: ReadonlyMap<string, RunJob>,
): (attemptEnd: JobEnd['attemptEnd']) => void {
  const runs = metrics.counter('weir_runs_total', 'Attempts of runs by how they ended.')
  metrics.observedGauge('weir_runs_running', 'Runs that are executed by this process.', () => jobs.size)
  return (attemptEnd) =>
    runs.inc({ status: attemptEnd.kind === 'ended' ? attemptEnd.status : attemptEnd.kind })
}
