import { toAppError } from '../base/errors.ts'
import { toDiskError } from '../base/files/disk-errors.ts'
import type { Logger } from '../base/log.ts'
import type { Revision, RevisionError, RevisionLease } from './model.ts'
import type { DeploymentStore, RevisionFindings } from './stores/deployment-store.ts'

export interface StepContext {
  /** Aborts when the revision was interrupted, its lease was lost, or the server stops. */
  signal: AbortSignal
  /**
   * Stores the end of the step, which must be called before the step takes effect. Returns false if the revision was
   * interrupted or its lease was lost; the step must then have no effect.
   */
  finish(findings: RevisionFindings): Promise<boolean>
}

/**
 * One step of a revision. Resolves with its findings, or with undefined if it has called `finish`; rejects with the
 * reason why the revision fails.
 */
export type RevisionStep = (revision: Revision, context: StepContext) => Promise<RevisionFindings | undefined>

export interface RevisionSteps {
  /** Reads source and langgraph.json. The result must depend only on the revision, because the step may be repeated. */
  create: RevisionStep
  /** Makes the artifact; its findings have `artifact_sha256`. */
  build: RevisionStep
  /** Starts the artifact and switches to it. */
  deploy: RevisionStep
}

export interface RevisionWorkerOptions {
  store: Pick<DeploymentStore, 'claim' | 'renew' | 'advance' | 'takeBack'>
  steps: RevisionSteps
  /** Called for each change of a state, for the log of kind `deploy`. */
  changed(revision: Revision): void
  lease_ms: number
  /** Maximum number of simultaneous builds on the server (P-6). */
  builds: number
  logger: Logger
}

export interface RevisionWorker {
  /** Claims all revisions that can be processed. Resolves when none is left. */
  wake(): Promise<void>
  /** Ends the step of an INTERRUPTED revision; resolves when the step has ended. */
  interrupted(revision: Revision): Promise<void>
  /** Whether it currently executes a step of the revision. */
  works(revision_id: string): boolean
  /** Takes back revisions whose server has ended; with `all`, all leased revisions. */
  takeBack(options: { all: boolean }): Promise<void>
  /** Ends all steps; their revisions are taken back by the next start. */
  stop(): Promise<void>
}

const STEPS = { CREATING: 'create', BUILDING: 'build', DEPLOYING: 'deploy' } as const
const RENEWALS_PER_LEASE = 3

/** Takes leases on revisions and executes their steps, for several deployments at a time (P-5, P-6). */
export function createRevisionWorker(options: RevisionWorkerOptions): RevisionWorker {
  const { store, lease_ms, builds, changed, logger } = options
  const running = new Map<string, { abort: AbortController; ended: Promise<void> }>()
  let isStopped = false
  let claiming: Promise<void> | undefined

  /** A revision that has ended in another way, for example because it was skipped, no longer needs its step. */
  const noted = (revision: Revision): void => {
    if (revision.status === 'SKIPPED') running.get(revision.id)?.abort.abort()
    changed(revision)
  }
  const takeBack = async (which: { all: boolean }): Promise<void> => {
    for (const revision of await store.takeBack(which)) changed(revision)
  }
  const begin = (lease: RevisionLease): void => {
    const { id } = lease.revision
    const abort = new AbortController()
    changed(lease.revision)
    const ended = carryOut({ ...options, changed: noted }, lease, abort)
      .catch((error: unknown) => logger.error({ err: error, revision_id: id }, 'a revision was not finished'))
      .finally(() => running.delete(id))
      // Another revision may have waited for this one.
      .then(() => void wake())
    running.set(id, { abort, ended })
  }
  const claimAll = async (): Promise<void> => {
    await takeBack({ all: false })
    for (;;) {
      const lease = isStopped ? undefined : await store.claim({ lease_ms, builds })
      if (lease === undefined) return
      begin(lease)
    }
  }
  const wake = async (): Promise<void> => {
    while (claiming !== undefined) await claiming
    if (isStopped) return
    claiming = claimAll()
      .catch((error: unknown) => logger.warn({ err: error }, 'revisions cannot be claimed now'))
      .finally(() => (claiming = undefined))
    await claiming
  }
  return {
    wake,
    takeBack,
    works: (revision_id) => running.has(revision_id),
    async interrupted(revision) {
      const step = running.get(revision.id)
      step?.abort.abort()
      await step?.ended
      changed(revision)
    },
    async stop() {
      isStopped = true
      await claiming
      const steps = [...running.values()]
      for (const { abort } of steps) abort.abort()
      await Promise.all(steps.map(({ ended }) => ended))
    },
  }
}

async function carryOut(
  { store, steps, lease_ms, changed }: RevisionWorkerOptions,
  lease: RevisionLease,
  abort: AbortController,
): Promise<void> {
  const { revision } = lease
  const step = STEPS[revision.status as keyof typeof STEPS]
  const timer = setInterval(() => {
    const lost = (): void => abort.abort()
    store.renew(lease, lease_ms).then((isHeld) => (isHeld ? undefined : lost()), lost)
  }, lease_ms / RENEWALS_PER_LEASE)
  const start = performance.now()
  const took = (): RevisionFindings['timings'] => ({ [step]: Math.round(performance.now() - start) })
  const advance = async (
    event: Parameters<typeof store.advance>[1],
    findings: RevisionFindings,
  ): Promise<boolean> => {
    const next = await store.advance(lease, event, {
      ...findings,
      timings: { ...findings.timings, ...took() },
    })
    if (next === undefined) return false
    for (const one of [...next.skipped, next.revision]) changed(one)
    return true
  }
  const finish = (findings: RevisionFindings): Promise<boolean> =>
    advance(step === 'create' ? 'accepted' : 'ok', findings)
  try {
    const findings = await steps[step](revision, { signal: abort.signal, finish }).catch(
      async (error: unknown) => {
        // An aborted step is no failure. After an interruption the state is already set; otherwise the revision is
        // taken back.
        if (!abort.signal.aborted)
          await advance(step === 'create' ? 'refused' : 'error', { error: reasonOf(error) })
      },
    )
    if (findings !== undefined) await finish(findings)
  } finally {
    clearInterval(timer)
  }
}

/**
 * The error in the form of the API. Of its details only `file` and `line` are shown; the rest is only in the server's
 * log.
 */
function reasonOf(thrown: unknown): RevisionError {
  const { code, message, details } = toDiskError(thrown) ?? toAppError(thrown)
  const { file, line } = Object(details) as { file?: unknown; line?: unknown }
  return {
    code,
    message,
    ...(typeof file === 'string' && { file }),
    ...(typeof line === 'number' && { line }),
  }
}
