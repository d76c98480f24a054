import type { Clock } from '../../../base/clock.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Advance, DeploymentStore, RevisionFindings } from '../../../deploy/stores/deployment-store.ts'
import type { Revision, RevisionLease } from '../../../deploy/model.ts'
import { nextState, type RevisionState, statesWith } from '../../../deploy/revision-states.ts'
import type { Database, SqlSession, SqlValue } from '../driver/database.ts'
import { REVISION, type RevisionRow, toRevision } from './rows.ts'

/** Lock name for every transaction that changes the state of a revision. */
export const REVISIONS_LOCK = 'revisions'

/** States in which a revision waits to be processed or is being processed. */
const CLAIMABLE = `'CREATING', 'QUEUED', 'AWAITING_BUILD', 'AWAITING_DEPLOY'`
const WORKING = `'BUILDING', 'DEPLOYING'`

type Work = Pick<DeploymentStore, 'claim' | 'renew' | 'advance' | 'takeBack'>

/** Leases on revisions, and the changes of their states. */
export function createRevisionWork(database: Database, clock: Clock): Work {
  return {
    claim: (limits) =>
      database.tx(REVISIONS_LOCK, (session) => claim(session, { ...limits, now: clock.now() })),
    async renew({ revision, token }, lease_ms) {
      const sql = 'UPDATE revisions SET lease_until = ? WHERE id = ? AND lease_token = ? RETURNING id'
      return (await database.query(sql, [clock.now() + lease_ms, revision.id, token])).length > 0
    },
    advance: (lease, event, findings) =>
      database.tx(REVISIONS_LOCK, (session) =>
        advance(session, lease, { event, findings, now: clock.now() }),
      ),
    takeBack: ({ all }) =>
      database.tx(REVISIONS_LOCK, async (session) => {
        const rows = await session.query<RevisionRow>(
          `SELECT ${REVISION} FROM revisions WHERE lease_token IS NOT NULL AND lease_until <= ?`,
          [all ? Number.MAX_SAFE_INTEGER : clock.now()],
        )
        const taken: Revision[] = []
        for (const { id, status, builds } of rows) {
          const facts = { behind_another: false, has_artifact: false, builds }
          const next = nextState(status, 'server_died', facts) ?? status
          const error = next === 'BUILD_FAILED' ? { error: SERVER_DIED } : {}
          taken.push(await setState(session, id, next, { findings: error, now: clock.now() }))
        }
        return taken
      }),
  }
}

const SERVER_DIED = { code: 'build_failed', message: 'The server ended twice during this build.' }

/**
 * Claims the oldest revision whose deployment is not deleted and has no other revision that is being built or deployed.
 */
async function claim(
  session: SqlSession,
  { lease_ms, builds, now }: { lease_ms: number; builds: number; now: number },
): Promise<RevisionLease | undefined> {
  const [building] = await session.query<{ n: number }>(
    `SELECT count(*) AS n FROM revisions WHERE status = 'BUILDING'`,
  )
  const mayBuild = (building?.n ?? 0) < builds
  const [found] = await session.query<RevisionRow>(
    `SELECT ${REVISION} FROM revisions WHERE status IN (${mayBuild ? CLAIMABLE : `'CREATING', 'AWAITING_DEPLOY'`})
       AND lease_token IS NULL
       AND deployment_id IN (SELECT id FROM deployments WHERE name IS NOT NULL)
       AND (status = 'CREATING' OR deployment_id NOT IN
         (SELECT deployment_id FROM revisions WHERE status IN (${WORKING})))
     ORDER BY created_at, number LIMIT 1`,
  )
  if (found === undefined) return undefined
  const facts = { behind_another: false, has_artifact: false, builds: found.builds }
  // If a queued revision was claimed, no other one of its deployment is in progress. So the claimed revision passes
  // through `AWAITING_BUILD` at once, and its build begins.
  const awaiting = found.status === 'QUEUED' ? nextState(found.status, 'claimed', facts) : found.status
  const next = nextState(awaiting ?? found.status, 'claimed', facts) ?? found.status
  const token = newUuid()
  const [row] = await session.query<RevisionRow>(
    `UPDATE revisions SET status = ?, lease_token = ?, lease_until = ?, builds = ?, updated_at = ?
     WHERE id = ? RETURNING ${REVISION}`,
    [next, token, now + lease_ms, found.builds + Number(next === 'BUILDING'), now, found.id],
  )
  return row && { revision: toRevision(row), token }
}

type Step = Parameters<DeploymentStore['advance']>[1]

async function advance(
  session: SqlSession,
  { revision: { id, deployment_id, number }, token }: RevisionLease,
  { event, findings, now }: { event: Step; findings: RevisionFindings; now: number },
): Promise<Advance | undefined> {
  const [row] = await session.query<RevisionRow>(
    `SELECT ${REVISION} FROM revisions WHERE id = ? AND lease_token = ?`,
    [id, token],
  )
  if (row === undefined) return undefined
  const [another] = await session.query(
    `SELECT id FROM revisions WHERE deployment_id = ? AND id <> ? AND status IN (${WORKING}) LIMIT 1`,
    [deployment_id, id],
  )
  const has_artifact = (findings.artifact_sha256 ?? row.artifact_sha256) !== null
  const facts = { behind_another: another !== undefined, has_artifact, builds: row.builds }
  const next = nextState(row.status, event, facts)
  if (next === undefined) return undefined
  const skipped = event === 'accepted' ? await skipOlder(session, { deployment_id, number }, now) : []
  const timings = { ...toRevision(row).timings, ...findings.timings }
  const revision = await setState(session, id, next, { findings: { ...findings, timings }, now })
  if (next === 'DEPLOYED')
    await session.query('UPDATE deployments SET active_revision_id = ?, updated_at = ? WHERE id = ?', [
      id,
      now,
      deployment_id,
    ])
  return { revision, skipped }
}

/**
 * Skips the older revisions of the deployment that are still waiting. Revisions that are being built or deployed
 * continue.
 */
async function skipOlder(
  session: SqlSession,
  { deployment_id, number }: Pick<Revision, 'deployment_id' | 'number'>,
  now: number,
): Promise<Revision[]> {
  const facts = { behind_another: false, has_artifact: false, builds: 0 }
  const waiting = statesWith('newer_came').filter(
    (state) => nextState(state, 'newer_came', facts) === 'SKIPPED',
  )
  const places = waiting.map(() => '?').join(', ')
  const rows = await session.query<RevisionRow>(
    `UPDATE revisions SET status = 'SKIPPED', lease_token = NULL, lease_until = NULL, updated_at = ?
     WHERE deployment_id = ? AND number < ? AND status IN (${places}) RETURNING ${REVISION}`,
    [now, deployment_id, number, ...waiting],
  )
  return rows.map(toRevision)
}

async function setState(
  session: SqlSession,
  id: string,
  status: RevisionState,
  { findings, now }: { findings: RevisionFindings; now: number },
): Promise<Revision> {
  const values: [string, SqlValue][] = Object.entries(findings).map(([column, value]) => [
    column,
    typeof value === 'string' || value === null ? value : JSON.stringify(value),
  ])
  const sets = values.map(([column]) => `${column} = ?, `).join('')
  const [row] = await session.query<RevisionRow>(
    `UPDATE revisions SET ${sets}status = ?, lease_token = NULL, lease_until = NULL, updated_at = ?
     WHERE id = ? RETURNING ${REVISION}`,
    [...values.map(([, value]) => value), status, now, id],
  )
  if (row === undefined) throw new Error('A revision disappeared while its lock was held.')
  return toRevision(row)
}
