import type { GraphHost } from './execute/graph-host.ts'
import type { Tenant } from './model.ts'

/** A deployment whose runs this server executes. */
export interface Deployment extends Tenant {
  /** The name of the deployment, and of the project to which its runs are traced (D-45). */
  name: string
  host: GraphHost
  /** The revision that `host` executes; null if the deployment has no revisions. */
  revision_id: string | null
  /**
   * The graphs that this server has. Set if other servers execute runs of the deployment too: this server then leaves
   * runs of other graphs to them. Absent: this server executes all runs.
   */
  graphs?(): readonly string[]
  /** Maximum number of runs at a time; further ones wait. */
  concurrency: number
}

/**
 * A key that identifies a run within all tenants. The id of the run is not enough: clients choose ids, and ids are
 * unique only within a deployment.
 */
export function runKey({ deployment_id }: Pick<Tenant, 'deployment_id'>, run_id: string): string {
  return `${deployment_id}/${run_id}`
}

/** Counts the users of the host of a deployment's revision: running runs, claims under way and calls. */
export interface DeploymentUse {
  /** Adds a user to the count. The returned function removes it. */
  enter(deployment: Deployment): () => void
  /** Resolves when the count is zero, or when `signal` aborts. */
  ended(deployment: Deployment, signal: AbortSignal): Promise<void>
}

export function createDeploymentUse(): DeploymentUse {
  const counts = new Map<Deployment, { now: number; waiting: Set<() => void> }>()
  return {
    enter(deployment) {
      const count = counts.get(deployment) ?? { now: 0, waiting: new Set() }
      counts.set(deployment, count)
      count.now++
      let left = false
      return () => {
        if (left) return
        left = true
        count.now--
        if (count.now > 0) return
        counts.delete(deployment)
        for (const resolve of count.waiting) resolve()
      }
    },
    ended(deployment, signal) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const count = counts.get(deployment)
      if (count === undefined || signal.aborted) return Promise.resolve()
      count.waiting.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      return promise
    },
  }
}
