import {
  type BuildCommands,
  NO_COMMANDS,
  type StoredDeployment,
  type Revision,
  type RevisionError,
  type SealedSecret,
} from '../../../deploy/model.ts'

export const DEPLOYMENT =
  'id, organization_id, workspace_id, name, hosted_name, type, secrets, commands, latest_revision_id, ' +
  'latest_number, active_revision_id, created_at, updated_at'

export interface DeploymentRow
  extends Omit<StoredDeployment, 'managed_by' | 'name' | 'secrets' | 'commands'> {
  name: string | null
  commands: string | null
  hosted_name: string
  secrets: string
  latest_number: number
}

export const REVISION =
  'id, deployment_id, number, status, source_path, config_path, commands, source_sha256, artifact_sha256, error, ' +
  'created_by, graphs, rolled_back_from, timings, builds, created_at, updated_at'

export interface RevisionRow extends Omit<Revision, 'commands' | 'error' | 'graphs' | 'timings'> {
  commands: string | null
  error: string | null
  graphs: string | null
  timings: string
}

/** Converts a row to a deployment, which keeps its name while it is being deleted. */
export function toDeployment(row: DeploymentRow): StoredDeployment {
  const { hosted_name: name, secrets, commands, latest_number: _, ...rest } = row
  return {
    ...rest,
    managed_by: 'api',
    name,
    secrets: JSON.parse(secrets) as SealedSecret[],
    commands: toCommands(commands),
  }
}

/** The text of column `commands`: JSON, or null if there are no commands. */
export function commandsText({ install_command, build_command }: BuildCommands): string | null {
  if (install_command === null && build_command === null) return null
  return JSON.stringify({ install_command, build_command })
}

function toCommands(text: string | null): BuildCommands {
  return text === null ? NO_COMMANDS : (JSON.parse(text) as BuildCommands)
}

export function toRevision(row: RevisionRow): Revision {
  return {
    ...row,
    commands: toCommands(row.commands),
    error: row.error === null ? null : (JSON.parse(row.error) as RevisionError),
    graphs: row.graphs === null ? null : (JSON.parse(row.graphs) as string[]),
    timings: JSON.parse(row.timings) as Record<string, number>,
  }
}
