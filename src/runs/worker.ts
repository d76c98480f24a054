import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import { type Deployment, runKey } from './deployment.ts'
import { createDueTimer, type DueTimer } from './due-timer.ts'
import type { EarlyCancels } from './early-cancels.ts'
import type { CancelAction, Tenant } from './model.ts'
import { refreshThread } from './refresh-thread.ts'
import { createRunEndings, type QuietEnd, type RunEndings, type RunEndingsDeps } from './run-endings.ts'
import { type JobDeps, type JobEnd, type RunJob, startRunJob } from './run-job.ts'
import { createRunSlots, type RunSlots } from './run-slots.ts'
import type {
  Admission,
  Admitted,
  CancelOrder,
  CancelResult,
  CancelSelector,
  Claim,
  Claimer,
  Lease,
  Recovered,
} from './run-store.ts'
import type { WakeMessage } from './wake.ts'

export interface WorkerDeps extends Omit<JobDeps, 'host'>, RunEndingsDeps {
  earlyCancels: EarlyCancels
  /** By `deployment_id`. */
  deployments: ReadonlyMap<string, Deployment>
  claimer: Claimer
  clock: Clock
  logger: Logger
  metrics: Metrics
}

/** Takes up runs and executes them; the only place where runs begin and end. */
export interface Worker {
  /** Admits a run, starts it at once if nothing is before it, and tells those that it cancels. */
  admit(tenant: Tenant, admission: Omit<Admission, 'claim'>): Promise<Admitted>
  cancel(tenant: Tenant, selector: CancelSelector, action: CancelAction): Promise<CancelResult[]>
  /** Takes nothing more, lets runs end for so long, and gives the others back to be taken up later. */
  stop(graceMs: number): Promise<void>
}

/** After a hand-back, until runs are given up as they are. */
const HAND_BACK_MS = 10_000
/** Timers have a limit, and clocks are set. */
const MAX_WAIT_MS = 3_600_000

/** A worker at work. */
interface Work extends WorkerDeps {
  jobs: Map<string, RunJob>
  slots: RunSlots
  endings: RunEndings
  /** Claims what can be claimed. */
  timer: DueTimer
  counted(settled: JobEnd['settled']): void
  stopping: boolean
}

/** Takes back what earlier processes left behind, and begins to work. */
export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const jobs = new Map<string, RunJob>()
  const look = (): Promise<number | undefined> => claimAll(work)
  const work: Work = {
    ...deps,
    jobs,
    slots: createRunSlots(),
    endings: createRunEndings(deps),
    timer: createDueTimer({ ...deps, look, maxWaitMs: MAX_WAIT_MS }),
    counted: countRuns(deps, jobs),
    stopping: false,
  }
  await recover(work, deps.claimer.owner)
  deps.wake.listen((message) => hear(work, message))
  work.timer.ask()
  const renewal = renewLeases(work)
  return {
    admit: (tenant, admission) => admit(work, tenant, admission),
    cancel: (tenant, selector, action) => cancel(work, tenant, selector, action),
    async stop(graceMs) {
      await stop(work, graceMs)
      clearInterval(renewal)
    },
  }
}

async function admit(work: Work, tenant: Tenant, admission: Omit<Admission, 'claim'>): Promise<Admitted> {
  const { slots, store, claimer, timer } = work
  const deployment = work.deployments.get(tenant.deployment_id)
  const taken = deployment === undefined ? 0 : slots.take(deployment, 1)
  let used = 0
  try {
    const admitted = await store.admit(tenant, { ...admission, claim: taken > 0 ? claimer : null })
    if (admitted.kind !== 'created') return admitted
    const { claim, run, cancelling, ended } = admitted
    if (claim !== null) {
      used = 1
      start(work, claim)
    } else if (run.due_at > run.created_at) timer.dueAt(run.due_at)
    else {
      // There was no room, or a look at the store had taken it all; by now there may be some.
      if (taken === 0) timer.ask()
      work.wake.send({ kind: 'work' })
    }
    for (const order of cancelling) pass(work, tenant, order)
    for (const end of ended) tellQuiet(work, tenant, { ...end, thread_id: run.thread_id })
    return admitted
  } finally {
    if (deployment !== undefined) slots.give(deployment, taken - used)
  }
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
    if (outcome === 'ended' && status !== null) tellQuiet(work, tenant, { run_id, thread_id, status })
  }
  return results
}

/** Tells whoever executes the run. */
function pass({ jobs, wake }: Work, { deployment_id }: Tenant, { run_id, action }: CancelOrder): void {
  const job = jobs.get(runKey({ deployment_id }, run_id))
  if (job !== undefined) job.cancel(action)
  else wake.send({ kind: 'cancel', deployment_id, run_id, action })
}

function tellQuiet({ endings, logger }: Work, { workspace_id, deployment_id }: Tenant, end: QuietEnd): void {
  endings
    .quiet({ workspace_id, deployment_id }, end)
    .catch((error: unknown) =>
      logger.error({ err: error, run_id: end.run_id }, 'the end of a run was not told'),
    )
}

function start(work: Work, claim: Claim): void {
  const { deployments, jobs, logger } = work
  const deployment = deployments.get(claim.deployment_id)
  if (deployment === undefined) return
  const job = startRunJob({ ...work, host: deployment.host }, claim)
  jobs.set(runKey(claim, claim.run_id), job)
  job.done
    .then((end) => settle(work, deployment, claim, end))
    .catch((error: unknown) =>
      logger.error({ err: error, run_id: claim.run_id }, 'the end of a run was not told'),
    )
}

async function settle(work: Work, deployment: Deployment, claim: Claim, end: JobEnd): Promise<void> {
  const { jobs, slots, timer, wake, endings } = work
  const { settled } = end
  jobs.delete(runKey(claim, claim.run_id))
  work.counted(settled)
  const wasFull = slots.give(deployment, 1)
  const hasMore = settled.kind === 'retried' || (settled.kind === 'ended' && settled.more)
  if (hasMore || wasFull) timer.ask()
  if (hasMore && work.stopping) wake.send({ kind: 'work' })
  if (settled.kind === 'ended') await endings.executed(deployment, claim, end, settled.status)
}

/** Takes up what can be; answers when something more becomes due. */
async function claimAll(work: Work): Promise<number | undefined> {
  for (const deployment of work.deployments.values()) await claimFor(work, deployment)
  return work.stopping ? undefined : work.store.nextDue()
}

async function claimFor(work: Work, deployment: Deployment): Promise<void> {
  const { slots, store, claimer, wake } = work
  const taken = slots.take(deployment, deployment.concurrency)
  if (taken === 0) return
  let claims: Claim[] = []
  try {
    claims = await store.claim(claimer, [deployment.deployment_id], taken)
  } finally {
    slots.give(deployment, taken - claims.length)
  }
  for (const claim of claims) start(work, claim)
  // There may be more than fits here.
  if (claims.length === taken) wake.send({ kind: 'work' })
}

/** Keeps the leases of all jobs alive, and hears what has become of them. */
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
  const { deployments, jobs, store, claimer, wake } = work
  for (const { deployment_id } of deployments.values()) {
    const leases = [...jobs.values()].flatMap(({ claim }) =>
      claim.deployment_id === deployment_id ? [leaseOf(claim)] : [],
    )
    if (leases.length === 0) continue
    const { lost, cancel: orders } = await store.renew(leases, claimer.lease_ms)
    for (const run_id of lost) jobs.get(runKey({ deployment_id }, run_id))?.lose()
    for (const { run_id, action } of orders) jobs.get(runKey({ deployment_id }, run_id))?.cancel(action)
  }
  // Nobody's name is empty: only leases that have run out are taken back.
  if (wake.shared && !work.stopping) await recover(work, '')
}

function leaseOf({ workspace_id, deployment_id, run_id, thread_id, token }: Claim): Lease {
  return { workspace_id, deployment_id, run_id, thread_id, token }
}

async function recover(work: Work, owner: string): Promise<void> {
  const recovered = await work.store.recover(owner, work.rules.max_attempts)
  if (recovered.length === 0) return
  work.logger.info({ runs: recovered.length }, 'took back runs whose worker is gone')
  work.timer.ask()
  for (const run of recovered) if (run.status !== 'pending') void settleRecovered(work, run)
}

/** What an interrupted or failed run had reached is the thread's state now. */
async function settleRecovered(work: Work, recovered: Recovered): Promise<void> {
  const { store, deployments, logger } = work
  const { workspace_id, deployment_id, run_id, thread_id, status } = recovered
  const tenant = { workspace_id, deployment_id }
  const host = deployments.get(deployment_id)?.host
  try {
    const run = await store.getRun(tenant, thread_id, run_id)
    if (host !== undefined && run !== undefined) await refreshThread(work, host, tenant, run)
  } catch (error) {
    logger.warn({ err: error, run_id }, 'the state of a thread was not brought up to date')
  }
  tellQuiet(work, tenant, { run_id, thread_id, status })
}

/** A word from another process. */
function hear({ timer, jobs, waiters, earlyCancels }: Work, message: WakeMessage): void {
  if (message.kind === 'work') timer.ask()
  else if (message.kind === 'cancel') jobs.get(runKey(message, message.run_id))?.cancel(message.action)
  else if (message.kind === 'ended') waiters.tell(runKey(message, message.run_id), undefined)
  else if (message.kind === 'early_cancel') earlyCancels.remember(message, message.action)
  else {
    timer.ask()
    waiters.tellAll()
  }
}

async function stop(work: Work, graceMs: number): Promise<void> {
  const { jobs, slots, timer } = work
  work.stopping = true
  slots.close()
  await timer.stop()
  const allDone = (): Promise<unknown> => Promise.all([...jobs.values()].map(({ done }) => done))
  await within(allDone(), graceMs)
  for (const job of jobs.values()) job.handBack()
  await within(allDone(), HAND_BACK_MS)
  for (const job of jobs.values()) job.lose()
}

/** Waits, but not longer than so. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, promise])
  clearTimeout(timer)
}

/** Counts how runs end. */
function countRuns(
  { metrics }: Pick<WorkerDeps, 'metrics'>,
  jobs: ReadonlyMap<string, RunJob>,
): (settled: JobEnd['settled']) => void {
  const runs = metrics.counter('weir_runs_total', 'Attempts of runs by how they ended.')
  metrics.observedGauge('weir_runs_running', 'Runs that are executed by this process.', () => jobs.size)
  return (settled) => runs.inc({ status: settled.kind === 'ended' ? settled.status : settled.kind })
}
