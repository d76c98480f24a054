import type { Tenant } from '../../runs/model.ts'
import type { SqlSession, SqlValue } from './driver/database.ts'

export interface Expression {
  sql: string
  params: SqlValue[]
}

/** The checkpoints of one namespace of a thread. */
interface Place {
  thread_id: string
  checkpoint_ns: string
}

const OF_PLACE = 'e.thread_id = ? AND e.checkpoint_ns = ? AND e.deployment_id = ? AND e.workspace_id = ?'
const LAST_ERA = `COALESCE((SELECT max(e.era) FROM checkpoints e WHERE ${OF_PLACE} AND e.era > 0), 0)`
const ERA_OF_NEW = `COALESCE((SELECT CASE WHEN c.checkpoint_id > ? THEN c.era + 1 ELSE c.era END
  FROM checkpoints c WHERE c.thread_id = ? AND c.checkpoint_ns = ? AND c.deployment_id = ? AND c.workspace_id = ?
  AND c.era = ${LAST_ERA} ORDER BY c.checkpoint_id DESC LIMIT 1), 0)`

function keyValues({ deployment_id, workspace_id }: Tenant, { thread_id, checkpoint_ns }: Place): SqlValue[] {
  return [thread_id, checkpoint_ns, deployment_id, workspace_id]
}

const BY_ID = 'ORDER BY checkpoint_id DESC'
const BY_ERA = 'ORDER BY era DESC, checkpoint_id DESC'

/**
 * SQL that reads the checkpoints of a thread and namespace, the newest first. The newest checkpoint has the highest
 * era, and the highest id in this era. Ids alone are not enough: they begin with a time, and clocks may be set back.
 */
export interface NewestFirst {
  conditions: Expression[]
  order: string
}

export function newestAlone(tenant: Tenant, place: Place): NewestFirst {
  return { conditions: [{ sql: `era = ${LAST_ERA}`, params: keyValues(tenant, place) }], order: BY_ID }
}

/**
 * Selects all checkpoints of the place, or those older than `before`. Without a place, the checkpoints are in the order
 * of their ids.
 */
export async function newestFirst(
  session: SqlSession,
  tenant: Tenant,
  place: Place | undefined,
  before: string | undefined,
): Promise<NewestFirst> {
  const key = place === undefined ? [] : keyValues(tenant, place)
  const [last] =
    place === undefined ? [] : await session.query<{ era: number }>(`SELECT ${LAST_ERA} AS era`, key)
  // With a single era, the order is that of the primary key, which needs no sorting.
  if (last === undefined || last.era === 0) {
    const conditions = before === undefined ? [] : [{ sql: 'checkpoint_id < ?', params: [before] }]
    return { conditions, order: BY_ID }
  }
  if (before === undefined) return { conditions: [], order: BY_ERA }
  const named = `SELECT e.era FROM checkpoints e WHERE ${OF_PLACE} AND e.checkpoint_id = ?`
  const [bound = last] = await session.query<{ era: number }>(named, [...key, before])
  return {
    conditions: [{ sql: '(era, checkpoint_id) < (?, ?)', params: [bound.era, before] }],
    order: BY_ERA,
  }
}

/**
 * The era of a checkpoint that is inserted now: the last era, or the next one if the new id is lower than the id of the
 * newest checkpoint.
 */
export function eraOfNew(
  tenant: Tenant,
  { checkpoint_id, ...place }: Place & { checkpoint_id: string },
): Expression {
  const key = keyValues(tenant, place)
  return { sql: ERA_OF_NEW, params: [checkpoint_id, ...key, ...key] }
}
