import type { SchemaTypes } from '../schema/types.gen.ts'

/** A run as the API of a deployment shows it. */
export type DeploymentRun = Required<SchemaTypes['run']>

/** Whether a run with this status (null: it is gone) is still to end. */
export function isActive(status: string | null): boolean {
  return status === 'pending' || status === 'running'
}
