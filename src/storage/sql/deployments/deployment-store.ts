import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { newTimeUuid, timeOfUuid } from '../../../base/ids.ts'
import type { DeploymentStore, NewDeployment, NewRevision } from '../../../deploy/stores/deployment-store.ts'
import type { StoredDeployment, Revision } from '../../../deploy/model.ts'
import { isTerminal, REVISION_STATES } from '../../../deploy/revision-states.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { createRevisionWork, REVISIONS_LOCK } from './revision-work.ts'
import {
  commandsText,
  DEPLOYMENT,
  type DeploymentRow,
  REVISION,
  type RevisionRow,
  toDeployment,
  toRevision,
} from './rows.ts'

/** Deployments and revisions in a SQL database that has been migrated. */
export function createDeploymentStore(database: Database, clock: Clock): DeploymentStore {
  const revision = async (deployment_id: string, id: string): Promise<Revision | undefined> => {
    const sql = `SELECT ${REVISION} FROM revisions WHERE deployment_id = ? AND id = ?`
    const [row] = await database.query<RevisionRow>(sql, [deployment_id, id])
    return row && toRevision(row)
  }
  return {
    ...createRevisionWork(database, clock),
    ...createDeploymentReads(database),
    revision,
    create: (deployment) =>
      database.tx('deployments', (session) => createDeployment(session, deployment, clock.now())),
    async replaceSecrets(id, secrets) {
      const sql = 'UPDATE deployments SET secrets = ?, updated_at = ? WHERE id = ?'
      await database.query(sql, [JSON.stringify(secrets), clock.now(), id])
    },
    async replaceCommands(id, commands) {
      const sql = 'UPDATE deployments SET commands = ?, updated_at = ? WHERE id = ?'
      await database.query(sql, [commandsText(commands), clock.now(), id])
    },
    async markDeleted(workspace_id, id) {
      const sql = `UPDATE deployments SET name = NULL, updated_at = ?
                   WHERE workspace_id = ? AND id = ? AND name IS NOT NULL RETURNING id`
      return (await database.query(sql, [clock.now(), workspace_id, id])).length > 0
    },
    erase: (id) =>
      database.tx(REVISIONS_LOCK, async (session) => {
        for (const table of ['deployment_logs', 'deployment_uploads', 'revisions'])
          await session.query(`DELETE FROM ${table} WHERE deployment_id = ?`, [id])
        await session.query('DELETE FROM deployments WHERE id = ?', [id])
      }),
    addRevision: (deployment_id, wanted) =>
      database.tx(REVISIONS_LOCK, (session) => addRevision(session, deployment_id, wanted, clock.now())),
    async revisions(deployment_id, { status, limit, offset }) {
      const where = status === undefined ? '' : 'AND status = ?'
      const rows = await database.query<RevisionRow>(
        `SELECT ${REVISION} FROM revisions WHERE deployment_id = ? ${where}
         ORDER BY number DESC LIMIT ? OFFSET ?`,
        [deployment_id, ...(status === undefined ? [] : [status]), limit, offset],
      )
      return rows.map(toRevision)
    },
    isBusy: (deployment_id) => isBusy(database, deployment_id),
    newestOfArtifacts: (deployment_id, filter) => newestOfArtifacts(database, deployment_id, filter),
    interrupt: (deployment_id, id) =>
      database.tx(REVISIONS_LOCK, async (session) => {
        const sql = 'SELECT status FROM revisions WHERE deployment_id = ? AND id = ?'
        const [row] = await session.query<RevisionRow>(sql, [deployment_id, id])
        if (row === undefined || isTerminal(row.status)) return undefined
        const [ended] = await session.query<RevisionRow>(
          `UPDATE revisions SET status = 'INTERRUPTED', lease_token = NULL, lease_until = NULL, updated_at = ?
           WHERE id = ? RETURNING ${REVISION}`,
          [clock.now(), id],
        )
        return ended && toRevision(ended)
      }),
  }
}

const UNENDED = REVISION_STATES.filter((state) => !isTerminal(state))

async function isBusy(database: Database, deployment_id: string): Promise<boolean> {
  const places = UNENDED.map(() => '?').join(', ')
  const sql = `SELECT id FROM revisions WHERE deployment_id = ? AND status IN (${places}) LIMIT 1`
  return (await database.query(sql, [deployment_id, ...UNENDED])).length > 0
}

async function newestOfArtifacts(
  database: Database,
  deployment_id: string,
  { status, limit }: Parameters<DeploymentStore['newestOfArtifacts']>[1],
): Promise<Revision[]> {
  const where = status === undefined ? '' : 'AND status = ?'
  const rows = await database.query<RevisionRow>(
    `SELECT ${REVISION} FROM revisions WHERE deployment_id = ? AND number IN
       (SELECT max(number) AS newest FROM revisions WHERE deployment_id = ? AND artifact_sha256 IS NOT NULL ${where}
        GROUP BY artifact_sha256 ORDER BY newest DESC LIMIT ?) ORDER BY number DESC`,
    [deployment_id, deployment_id, ...(status === undefined ? [] : [status]), limit],
  )
  return rows.map(toRevision)
}

type Reads = Pick<DeploymentStore, 'get' | 'find' | 'named' | 'list' | 'deleting' | 'active' | 'inactive'>

/** Whether there are deployments, including those that are being deleted. */
export async function hasDeployments(database: Database): Promise<boolean> {
  return (await database.query('SELECT id FROM deployments LIMIT 1')).length > 0
}

function createDeploymentReads(database: Database): Reads {
  const read = async (where: string, params: (string | number)[]): Promise<StoredDeployment[]> => {
    const rows = await database.query<DeploymentRow>(`SELECT ${DEPLOYMENT} FROM deployments ${where}`, params)
    return rows.map(toDeployment)
  }
  return {
    async get(workspace_id, id) {
      const [found] = await read('WHERE workspace_id = ? AND id = ? AND name IS NOT NULL', [workspace_id, id])
      return found
    },
    async find(id) {
      const [found] = await read('WHERE id = ? AND name IS NOT NULL', [id])
      return found
    },
    async named(name) {
      const [found] = await read('WHERE name = ?', [name])
      return found
    },
    list(workspace_id, { name, name_contains, limit, offset }) {
      const exactly = name === undefined ? '' : 'AND name = ?'
      const part = name_contains === '' ? undefined : name_contains
      // LIKE is not used, because it would treat % and _ in the text as wildcards.
      const containing = part === undefined ? '' : `AND replace(name, ?, '') <> name`
      const params = [name, part].filter((text) => text !== undefined)
      return read(
        `WHERE workspace_id = ? AND name IS NOT NULL ${exactly} ${containing}
         ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
        [workspace_id, ...params, limit, offset],
      )
    },
    deleting: () => read('WHERE name IS NULL ORDER BY id', []),
    inactive: () => read('WHERE active_revision_id IS NULL AND name IS NOT NULL ORDER BY id', []),
    async active() {
      const deployments = await read(
        'WHERE active_revision_id IS NOT NULL AND name IS NOT NULL ORDER BY id',
        [],
      )
      const rows = await database.query<RevisionRow>(
        `SELECT ${REVISION} FROM revisions WHERE id IN (SELECT active_revision_id FROM deployments)`,
      )
      const byId = new Map(rows.map((row) => [row.id, toRevision(row)]))
      return deployments.flatMap((deployment) => {
        const revision = byId.get(deployment.active_revision_id ?? '')
        return revision === undefined ? [] : [{ deployment, revision }]
      })
    },
  }
}

async function createDeployment(
  session: SqlSession,
  { id, organization_id, workspace_id, name, type, secrets, commands }: NewDeployment,
  now: number,
): Promise<StoredDeployment> {
  const [row] = await session.query<DeploymentRow>(
    `INSERT INTO deployments (id, organization_id, workspace_id, name, hosted_name, type, secrets, commands,
       latest_number, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)
     ON CONFLICT DO NOTHING RETURNING ${DEPLOYMENT}`,
    [
      ...[id, organization_id, workspace_id, name, name, type],
      ...[JSON.stringify(secrets), commandsText(commands), now, now],
    ],
  )
  if (row === undefined) throw new AppError('deployment_name_taken')
  return toDeployment(row)
}

async function addRevision(
  session: SqlSession,
  deployment_id: string,
  wanted: NewRevision,
  now: number,
): Promise<Revision> {
  const [latest] = await session.query<{ id: string | null }>(
    'SELECT max(id) AS id FROM revisions WHERE deployment_id = ?',
    [deployment_id],
  )
  // Claims of runs compare ids of revisions, so a later revision must have a greater id, even within the same
  // millisecond.
  const before = latest === undefined || latest.id === null ? 0 : timeOfUuid(latest.id)
  const id = newTimeUuid(Math.max(now, before + 1))
  const [numbered] = await session.query<{ latest_number: number }>(
    `UPDATE deployments SET latest_number = latest_number + 1, latest_revision_id = ?, updated_at = ?
     WHERE id = ? AND name IS NOT NULL RETURNING latest_number`,
    [id, now, deployment_id],
  )
  if (numbered === undefined) throw new AppError('not_found')
  const { source_path, config_path, commands, source_sha256, artifact_sha256 } = wanted
  const { created_by, rolled_back_from } = wanted
  const [row] = await session.query<RevisionRow>(
    `INSERT INTO revisions (id, deployment_id, number, status, source_path, config_path, commands,
       source_sha256, artifact_sha256, created_by, rolled_back_from, timings, builds, created_at, updated_at)
     VALUES (?, ?, ?, 'CREATING', ?, ?, ?, ?, ?, ?, ?, '{}', 0, ?, ?) RETURNING ${REVISION}`,
    [
      ...[id, deployment_id, numbered.latest_number, source_path, config_path],
      ...[commandsText(commands), source_sha256, artifact_sha256],
      ...[created_by, rolled_back_from, now, now],
    ],
  )
  if (row === undefined) throw new AppError('internal', { message: 'A revision was not inserted.' })
  return toRevision(row)
}
