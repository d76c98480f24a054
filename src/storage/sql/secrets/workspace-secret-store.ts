import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type {
  SealedChange,
  SealedWorkspaceSecret,
  SecretOutcome,
  WorkspaceSecret,
  WorkspaceSecretStore,
} from '../../../playground/secrets.ts'
import type { Database, SqlSession } from '../driver/database.ts'

interface SecretRow extends Omit<SealedWorkspaceSecret, 'hosts'> {
  hosts: string
}

const SELECT = 'SELECT workspace_id, key, sealed, hosts, created_at, updated_at FROM workspace_secrets'
/** Maximum number of secrets in a workspace. */
const MAX_SECRETS = 100

function toSecret(row: SecretRow): SealedWorkspaceSecret {
  return { ...row, hosts: JSON.parse(row.hosts) as string[] }
}

function withoutValue({ key, hosts, created_at, updated_at }: SealedWorkspaceSecret): WorkspaceSecret {
  return { key, hosts, created_at, updated_at }
}

/** Secrets of workspaces in a SQL database that has been migrated. */
export function createWorkspaceSecretStore(database: Database, clock: Clock): WorkspaceSecretStore {
  const select = async (rest: string, values: readonly string[] = []): Promise<SealedWorkspaceSecret[]> =>
    (await database.query<SecretRow>(`${SELECT} ${rest}`, values)).map(toSecret)
  return {
    list: async (workspace_id) =>
      (await select('WHERE workspace_id = ? ORDER BY key', [workspace_id])).map(withoutValue),
    find: async (workspace_id, key) =>
      (await select('WHERE workspace_id = ? AND key = ?', [workspace_id, key]))[0],
    any: async () => (await select('ORDER BY workspace_id, key LIMIT 1'))[0],
    write: (workspace_id, changes) =>
      database.tx(`workspace-secrets:${workspace_id}`, async (session) => {
        const outcomes: SecretOutcome[] = []
        for (const change of changes)
          outcomes.push(await writeOne(session, workspace_id, change, clock.now()))
        return outcomes
      }),
  }
}

async function writeOne(
  session: SqlSession,
  workspace_id: string,
  { key, sealed, hosts }: SealedChange,
  now: number,
): Promise<SecretOutcome> {
  if (sealed === null) {
    const deleted = await session.query(
      'DELETE FROM workspace_secrets WHERE workspace_id = ? AND key = ? RETURNING key',
      [workspace_id, key],
    )
    return deleted.length > 0 ? 'deleted' : 'none'
  }
  const values = [sealed, JSON.stringify(hosts), now, workspace_id, key]
  const changed = await session.query(
    `UPDATE workspace_secrets SET sealed = ?, hosts = ?, updated_at = ? WHERE workspace_id = ? AND key = ?
     RETURNING key`,
    values,
  )
  if (changed.length > 0) return 'updated'
  const [count] = await session.query<{ n: number }>(
    'SELECT count(*) AS n FROM workspace_secrets WHERE workspace_id = ?',
    [workspace_id],
  )
  if ((count?.n ?? 0) >= MAX_SECRETS) throw new AppError('quota_reached')
  await session.query(
    `INSERT INTO workspace_secrets (sealed, hosts, updated_at, workspace_id, key, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [...values, now],
  )
  return 'created'
}
