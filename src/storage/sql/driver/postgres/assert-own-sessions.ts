import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { AppError } from '../../../../base/errors.ts'
import { nodePostgres } from './pg.ts'

const TIMEOUT_MS = 5_000
/** Code with which PgBouncer refuses settings that a client sends when it connects. */
const PROTOCOL_VIOLATION = '08P01'
const SETTING = 'weir.session'

/**
 * Checks that each connection has its own session of Postgres. Weir needs this for LISTEN, for prepared statements, and
 * for the settings that it sends when it connects (search path and time limits). A pooler may use another session for
 * each transaction, or drop these settings. Other failures are ignored here; the first statement reports them. @throws
 * AppError config_invalid when `url` leads to such a pooler
 */
export async function assertOwnSessions(url: string): Promise<void> {
  const { Client, DatabaseError } = nodePostgres()
  const clients: pg.Client[] = []
  const open = async (): Promise<pg.Client> => {
    const client = new Client({
      connectionString: url,
      application_name: 'weir',
      keepAlive: true,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      statement_timeout: TIMEOUT_MS,
    })
    client.on('error', () => undefined)
    clients.push(client)
    await client.connect()
    return client
  }
  let shared = false
  try {
    const [one, other] = [await open(), await open()]
    shared = (await isSettingDropped(one)) || (await isSessionShared(one, other))
  } catch (error) {
    shared = error instanceof DatabaseError && error.code === PROTOCOL_VIOLATION
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)))
  }
  if (shared) throw new AppError('config_invalid', { message: POOLED })
}

const POOLED =
  "DATABASE_URL leads to a connection pooler that does not keep a session with its settings for each connection, such as PgBouncer in transaction mode. Give Postgres's own address: Weir pools connections itself, and DATABASE_CONNECTIONS limits how many it opens."

/** Whether the session lacks the time limit that was sent when connecting. */
async function isSettingDropped(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ ms: string }>(
    "SELECT setting AS ms FROM pg_settings WHERE name = 'statement_timeout'",
  )
  return Number(rows[0]?.ms) !== TIMEOUT_MS
}

/**
 * Whether the two connections share a session: a setting made on `one` is missing there, or present on `other`, while
 * `other` is in a transaction.
 */
async function isSessionShared(one: pg.Client, other: pg.Client): Promise<boolean> {
  const value = randomBytes(8).toString('hex')
  const read = async (client: pg.Client): Promise<unknown> => {
    const { rows } = await client.query<{ value: unknown }>(
      `SELECT current_setting('${SETTING}', true) AS value`,
    )
    return rows[0]?.value
  }
  await one.query(`SET ${SETTING} = '${value}'`)
  await other.query('BEGIN')
  const [kept, leaked] = [await read(one), await read(other)]
  await other.query('ROLLBACK')
  return kept !== value || leaked === value
}
