import type { GraphHost } from './graph-host.ts'
import type { Tenant } from './model.ts'

/** A deployment whose runs are executed here. */
export interface Deployment extends Tenant {
  /** Also the project of its runs' traces (D-45). */
  name: string
  host: GraphHost
  /** Runs at one time; further ones wait. */
  concurrency: number
}

/** Names a run within all tenants: clients choose ids, which are unique within a deployment only. */
export function runKey({ deployment_id }: Pick<Tenant, 'deployment_id'>, run_id: string): string {
  return `${deployment_id}/${run_id}`
}
