import pg from 'pg'
import { AppError } from '../../../base/errors.ts'
import type { TableReader } from '../../../backup/stores.ts'
import { createdTables } from '../driver/migrate.ts'
import { numberTypes } from '../driver/postgres.ts'
import { LEFT_OUT, rowLine, sqlName } from './names.ts'

/** Size of the texts that are read at a time. */
const PIECE_BYTES = 4 << 20
const SIZES = 1_000
const CONNECT_TIMEOUT_MS = 30_000

/** Statements that begin the read transaction. All reads in it see the same state, and it has no time limit. */
const BEGIN = [
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  'SET LOCAL statement_timeout = 0',
  'SET LOCAL idle_in_transaction_session_timeout = 0',
  // With this setting, two cursors over one table return its rows in the same order.
  'SET LOCAL synchronize_seqscans = off',
]

interface Column {
  name: string
  type: string
}

/**
 * Reads tables of Postgres in one read transaction, as they are now. Only tables that the `migrations` create are read,
 * in the schema of the URL's search path: other programs may have tables in that schema. @throws AppError
 * store_unavailable; backup_unusable for tables of a later release
 */
export async function readPostgresTables(url: string, migrations: URL): Promise<TableReader> {
  const client = new pg.Client({
    connectionString: url,
    types: numberTypes(),
    application_name: 'weir backup',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', () => undefined) // the next statement on the lost connection fails
  const query = async <Row>(sql: string, params: unknown[] = []): Promise<Row[]> => {
    try {
      return (await client.query(sql, params)).rows as Row[]
    } catch (cause) {
      throw new AppError('store_unavailable', { message: reasonOf(cause), cause })
    }
  }
  await client.connect().catch((cause: unknown) => {
    throw new AppError('store_unavailable', { message: reasonOf(cause), cause })
  })
  const found = await begin(query, migrations).catch(async (error: unknown) => {
    // The connection is closed, because the process cannot end while it is open.
    await client.end().catch(() => undefined)
    throw error
  })
  return {
    ...found,
    async read(table) {
      const columns = await query<Column>(
        `SELECT column_name AS name, data_type AS type FROM information_schema.columns
          WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
        [table],
      )
      return { columns: columns.map(({ name }) => name), lines: linesOf(query, table, columns) }
    },
    close: () => client.end(),
  }
}

type Query = <Row>(sql: string) => Promise<Row[]>

/** Begins the transaction; returns the version and the tables in it. */
async function begin(query: Query, migrations: URL): Promise<Pick<TableReader, 'version' | 'tables'>> {
  for (const statement of BEGIN) await query(statement)
  const found = await query<{ name: string }>(
    // Tables are in order of creation, so that a table comes after the tables that it references.
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(current_schema()) ORDER BY oid`,
  )
  const tables = found.map(({ name }) => name)
  const [newest] = tables.includes('schema_migrations')
    ? await query<{ version: number }>('SELECT max(version) AS version FROM schema_migrations')
    : []
  const version = newest?.version ?? 0
  const known = await createdTables(migrations)
  if (version > known.version)
    throw new AppError('backup_unusable', {
      message: `The database of DATABASE_URL is at version ${version}, and this release knows ${known.version}. Use the release of the server.`,
    })
  return { version, tables: tables.filter((table) => known.names.has(table) && !LEFT_OUT.includes(table)) }
}

/**
 * The lines of a table. One cursor returns the sizes of the rows. With these sizes, the other cursor fetches only as
 * many rows as fit into memory.
 */
async function* linesOf(query: Query, table: string, columns: readonly Column[]): AsyncGenerator<Buffer> {
  const texts = columns.filter(({ type }) => type === 'text').map(({ name }) => sqlName(name))
  const bytes = ['0', ...texts.map((name) => `coalesce(octet_length(${name}), 0)`)].join(' + ')
  const names = columns.map(({ name }) => sqlName(name)).join(', ')
  await query(`DECLARE sizes NO SCROLL CURSOR FOR SELECT ${bytes} AS bytes FROM ${sqlName(table)}`)
  await query(`DECLARE contents NO SCROLL CURSOR FOR SELECT ${names} FROM ${sqlName(table)}`)
  for (;;) {
    const sizes = await query<{ bytes: number }>(`FETCH ${SIZES} FROM sizes`)
    if (sizes.length === 0) break
    for (const count of portions(sizes.map((size) => size.bytes))) {
      const rows = await query<Record<string, unknown>>(`FETCH ${count} FROM contents`)
      yield Buffer.from(rows.map((row) => rowLine(Object.values(row))).join(''))
    }
  }
  await query('CLOSE sizes')
  await query('CLOSE contents')
}

/**
 * Splits successive rows into portions of at most PIECE_BYTES, and returns the number of rows of each. A larger row is
 * a portion of its own.
 */
function portions(sizes: readonly number[]): number[] {
  const counts: number[] = []
  let room = 0
  for (const size of sizes) {
    if (counts.length === 0 || size > room) {
      counts.push(0)
      room = PIECE_BYTES
    }
    counts[counts.length - 1]! += 1
    room -= size
  }
  return counts
}

function reasonOf(cause: unknown): string {
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
  return `The database of DATABASE_URL cannot be read: ${reason}`
}
