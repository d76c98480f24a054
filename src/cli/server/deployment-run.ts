import type { SchemaTypes } from '../../schema/types.gen.ts'

export type DeploymentRun = Required<SchemaTypes['run']>

/** Whether a run with this status (null: it was deleted) has not ended yet. */
export function isUnfinished(status: string | null): boolean {
  return status === 'pending' || status === 'running'
}
