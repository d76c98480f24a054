import { chunksOf } from '../../../base/chunks.ts'
import type { Clock } from '../../../base/clock.ts'
import { LINE_LEVELS, MAX_LOG_BYTES, MAX_MESSAGE_BYTES } from '../../../deploy/stores/log-lines.ts'
import type { DeploymentLogStore, LogLine, LogQuery, NewLogLine } from '../../../deploy/stores/log-lines.ts'
import { type Database, type SqlSession, type SqlValue, storableText } from '../driver/database.ts'

const US_PER_MS = 1000
/** Maximum number of lines in one statement. */
const SLICE = 100
/** The size of a log is read again whenever 1/READINGS of the limit has been added to the log. */
const READINGS = 8
/** Bytes of a row besides its message, including the index. */
const ROW_BYTES = 200

/** Logs of deployments in a SQL database that has been migrated. `max_bytes`: the limit of each deployment. */
export function createDeploymentLogStore(
  database: Database,
  clock: Clock,
  max_bytes: number = MAX_LOG_BYTES,
): DeploymentLogStore {
  /** Bytes that were added to each deployment since its size was last read. */
  const added = new Map<string, number>()
  return {
    async append(deployment_id, lines) {
      await database.tx(`deployment-logs:${deployment_id}`, async (session) => {
        const start = Math.max(clock.now() * US_PER_MS, (await newest(session, deployment_id)) + 1)
        for (const [index, some] of chunksOf(lines, SLICE).entries())
          await insert(session, deployment_id, some, start + index * SLICE)
      })
      const bytes = lines.reduce((sum, { message }) => sum + bytesOf(cut(storableText(message))), 0)
      added.set(deployment_id, (added.get(deployment_id) ?? 0) + bytes)
      if ((added.get(deployment_id) ?? 0) < max_bytes / READINGS) return
      added.delete(deployment_id)
      if ((await size(database, deployment_id)) > max_bytes)
        await trimToSize(database, deployment_id, max_bytes)
    },
    read: (deployment_id, query) => read(database, deployment_id, query),
    newest: (deployment_id) => newest(database, deployment_id),
    async trim(before_us) {
      await database.query('DELETE FROM deployment_logs WHERE at_us < ?', [before_us])
      const full = await database.query<{ deployment_id: string; bytes: number }>(
        `SELECT deployment_id, CAST(sum(bytes) AS BIGINT) AS bytes FROM deployment_logs
         GROUP BY deployment_id HAVING sum(bytes) > ?`,
        [max_bytes],
      )
      for (const { deployment_id } of full) await trimToSize(database, deployment_id, max_bytes)
    },
  }
}

async function newest(session: Pick<SqlSession, 'query'>, deployment_id: string): Promise<number> {
  const [found] = await session.query<{ at_us: number | null }>(
    'SELECT max(at_us) AS at_us FROM deployment_logs WHERE deployment_id = ?',
    [deployment_id],
  )
  return found?.at_us ?? 0
}

async function insert(
  session: SqlSession,
  deployment_id: string,
  lines: readonly NewLogLine[],
  start: number,
): Promise<void> {
  const values = lines.flatMap(({ revision_id, kind, level, message }, i): SqlValue[] => {
    const text = cut(storableText(message))
    return [deployment_id, start + i, revision_id, kind, level, text, bytesOf(text)]
  })
  const places = lines.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')
  await session.query(
    `INSERT INTO deployment_logs (deployment_id, at_us, revision_id, kind, level, message, bytes)
     VALUES ${places}`,
    values,
  )
}

/** Bytes of a row with this message. */
function bytesOf(text: string): number {
  return ROW_BYTES + Buffer.byteLength(text)
}

async function size(database: Database, deployment_id: string): Promise<number> {
  const [found] = await database.query<{ bytes: number | null }>(
    'SELECT CAST(sum(bytes) AS BIGINT) AS bytes FROM deployment_logs WHERE deployment_id = ?',
    [deployment_id],
  )
  return found?.bytes ?? 0
}

function cut(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= MAX_MESSAGE_BYTES) return message
  return `${bytes.toString('utf8', 0, MAX_MESSAGE_BYTES).replace(/\ufffd$/, '')}…`
}

function read(database: Database, deployment_id: string, query: LogQuery): Promise<LogLine[]> {
  const { kinds, order, limit, revision_id, level, text, from_us, to_us, after_us } = query
  const levels = LINE_LEVELS.slice(level === undefined ? 0 : LINE_LEVELS.indexOf(level))
  const conditions: [string, readonly SqlValue[]][] = [
    ['deployment_id = ?', [deployment_id]],
    [`kind IN (${places(kinds)})`, kinds],
    [`level IN (${places(levels)})`, levels],
    ...optional('revision_id = ?', revision_id),
    // LIKE is not used, because it would treat % and _ in the text as wildcards.
    // The database lowers both: SQLite only ASCII letters, Postgres all.
    ...optional(`replace(lower(message), lower(?), '') <> lower(message)`, text === '' ? undefined : text),
    ...optional('at_us >= ?', from_us),
    ...optional('at_us <= ?', to_us),
    ...optional(order === 'asc' ? 'at_us > ?' : 'at_us < ?', after_us),
  ]
  return database.query<LogLine>(
    `SELECT at_us, revision_id, kind, level, message FROM deployment_logs
     WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
     ORDER BY at_us ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT ?`,
    [...conditions.flatMap(([, values]) => values), limit],
  )
}

function optional(sql: string, value: SqlValue | undefined): [string, SqlValue[]][] {
  return value === undefined ? [] : [[sql, [value]]]
}

function places(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

/**
 * Deletes the oldest lines until three quarters of `max_bytes` remain. With a smaller deletion, every new line would
 * soon cause another one.
 */
async function trimToSize(database: Database, deployment_id: string, max_bytes: number): Promise<void> {
  await database.query(
    `DELETE FROM deployment_logs WHERE deployment_id = ? AND at_us <= (
       SELECT max(at_us) FROM (
         SELECT at_us, sum(bytes) OVER (ORDER BY at_us DESC) AS newer FROM deployment_logs WHERE deployment_id = ?
       ) AS lines WHERE newer > ?)`,
    [deployment_id, deployment_id, Math.floor((max_bytes * 3) / 4)],
  )
}
