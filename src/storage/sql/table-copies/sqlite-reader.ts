import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { TableReader } from '../../../backup/stores.ts'
import { LEFT_OUT, rowLine, sqlName } from './names.ts'

const PIECE_CHARS = 256 << 10
const BUSY_TIMEOUT_MS = 5_000
const NOTHING: TableReader = {
  version: 0,
  tables: [],
  read: () => Promise.reject(new RangeError('there is no table')),
  close: () => Promise.resolve(),
}

/**
 * Reads the tables of a SQLite file in one read transaction, as they are now, even if another process writes meanwhile.
 * Rows are read on the calling thread, one at a time. A missing file has no tables.
 */
export function readSqliteTables(file: string): TableReader {
  if (!existsSync(file)) return NOTHING
  const connection = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  connection.exec('BEGIN')
  const all = (sql: string): unknown[] =>
    connection
      .prepare(sql)
      .all()
      .flatMap((row) => Object.values(row))
  // Tables are in order of creation, so that a table comes after the tables that it references. This first read begins
  // the transaction.
  const tables = all(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid`,
  ) as string[]
  const [version] = tables.includes('schema_migrations')
    ? (all('SELECT max(version) FROM schema_migrations') as (number | null)[])
    : []
  return {
    version: version ?? 0,
    tables: tables.filter((table) => !LEFT_OUT.includes(table)),
    read(table) {
      const columns = all(`SELECT name FROM pragma_table_info('${sqlName(table)}') ORDER BY cid`) as string[]
      const rows = connection.prepare(`SELECT ${columns.map(sqlName).join(', ')} FROM ${table}`).iterate()
      return Promise.resolve({ columns, lines: linesOf(rows) })
    },
    close() {
      connection.close()
      return Promise.resolve()
    },
  }
}

async function* linesOf(rows: Iterable<Record<string, unknown>>): AsyncGenerator<Buffer> {
  let held = ''
  for (const row of rows) {
    held += rowLine(Object.values(row))
    if (held.length < PIECE_CHARS) continue
    yield Buffer.from(held)
    held = ''
  }
  if (held !== '') yield Buffer.from(held)
}
