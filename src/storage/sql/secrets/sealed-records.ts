import type { SealedSecret } from '../../../deploy/model.ts'
import type { Database } from '../driver/database.ts'

export interface SealedRecord {
  secrets: readonly { place: string; sealed: string }[]
  /** Stores other encrypted values in place of these; false if the record has changed since it was read. */
  replace(sealed: readonly string[]): Promise<boolean>
}

/** The names by which the sealer distinguishes secrets. */
export interface SecretPlaces {
  ofWorkspace(workspace_id: string, key: string): string
  ofDeployment(deployment_id: string, name: string): string
  /** The tokens of a session whose member signed in at a provider. */
  ofSession(session_id: string): string
}

/** Number of records that are read together. */
const PAGE = 100

interface WorkspaceRow {
  workspace_id: string
  key: string
  sealed: string
}

async function* ofWorkspaces(
  database: Database,
  { ofWorkspace }: SecretPlaces,
): AsyncGenerator<SealedRecord> {
  let after = { workspace_id: '', key: '' }
  for (;;) {
    const rows = await database.query<WorkspaceRow>(
      `SELECT workspace_id, key, sealed FROM workspace_secrets WHERE (workspace_id, key) > (?, ?)
        ORDER BY workspace_id, key LIMIT ${PAGE}`,
      [after.workspace_id, after.key],
    )
    for (const { workspace_id, key, sealed } of rows) {
      const sql = `UPDATE workspace_secrets SET sealed = ? WHERE workspace_id = ? AND key = ? AND sealed = ? RETURNING key`
      yield {
        secrets: [{ place: ofWorkspace(workspace_id, key), sealed }],
        replace: async ([other = '']) =>
          (await database.query(sql, [other, workspace_id, key, sealed])).length > 0,
      }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last
  }
}

async function* ofDeployments(
  database: Database,
  { ofDeployment }: SecretPlaces,
): AsyncGenerator<SealedRecord> {
  let after = ''
  for (;;) {
    const rows = await database.query<{ id: string; secrets: string }>(
      `SELECT id, secrets FROM deployments WHERE id > ? ORDER BY id LIMIT ${PAGE}`,
      [after],
    )
    for (const { id, secrets: text } of rows) {
      const secrets = JSON.parse(text) as SealedSecret[]
      const sql = 'UPDATE deployments SET secrets = ? WHERE id = ? AND secrets = ? RETURNING id'
      yield {
        secrets: secrets.map(({ name, sealed }) => ({ place: ofDeployment(id, name), sealed })),
        async replace(others) {
          const changed = secrets.map((secret, n) => ({ ...secret, sealed: others[n] ?? secret.sealed }))
          return (await database.query(sql, [JSON.stringify(changed), id, text])).length > 0
        },
      }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

async function* ofSessions(database: Database, { ofSession }: SecretPlaces): AsyncGenerator<SealedRecord> {
  let after = ''
  for (;;) {
    const rows = await database.query<{ id: string; tokens: string }>(
      `SELECT id, tokens FROM member_sessions WHERE id > ? AND tokens IS NOT NULL ORDER BY id LIMIT ${PAGE}`,
      [after],
    )
    for (const { id, tokens } of rows) {
      const sql = 'UPDATE member_sessions SET tokens = ? WHERE id = ? AND tokens = ? RETURNING id'
      yield {
        secrets: [{ place: ofSession(id), sealed: tokens }],
        replace: async ([other = '']) => (await database.query(sql, [other, id, tokens])).length > 0,
      }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

/** All records with encrypted secrets, in a SQL database that has been migrated. */
export async function* sealedRecords(database: Database, places: SecretPlaces): AsyncGenerator<SealedRecord> {
  yield* ofWorkspaces(database, places)
  yield* ofDeployments(database, places)
  yield* ofSessions(database, places)
}
