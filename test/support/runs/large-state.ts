import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL, fileURLToPath } from 'node:url'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { openPostgres } from '../../../src/storage/sql/driver/postgres.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { PYTHON } from '../python.ts'
import { jsonBody, startWeir, type WeirProcess } from '../servers/weir-process.ts'

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url))

export type Language = 'typescript' | 'python'

/** Text that does not repeat itself. */
export function textOf(bytes: number, seed = 1): string {
  const words: string[] = []
  let state = seed
  for (let size = 0; size < bytes; size += (words.at(-1) ?? '').length + 1) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    words.push(state.toString(36))
  }
  return words.join(' ').slice(0, bytes)
}

/** Starts a server with the graphs of test/fixtures, without traces. */
export function startWithGraphs(
  home: string,
  language: Language,
  database_url: string | undefined,
): Promise<WeirProcess> {
  const folder = language === 'python' ? 'python-graphs' : 'graphs'
  return startWeir(home, {
    GRAPHS: join(FIXTURES, folder, 'langgraph.json'),
    DEPLOYMENT_NAME: 'large',
    RUN_TRACING: 'off',
    VIRTUAL_ENV: join(PYTHON, '..', '..'),
    ...(database_url !== undefined && {
      DATABASE_URL: database_url,
      BLOB_URL: pathToFileURL(join(home, 'blobs')).href,
    }),
  })
}

/** The run's answer, and the values of its thread. */
export interface LargeRun {
  thread_id: string
  text: string
  steps: number
}

/** Waits for a run of two steps whose state is the text; with `appends`, both steps add some words to it. */
export async function runLarge(weir: WeirProcess, text: string, appends: boolean): Promise<LargeRun> {
  const base = '/deployments/large/threads'
  const { thread_id } = await weir.json<{ thread_id: string }>(base, jsonBody('POST', {}))
  const body = jsonBody('POST', { assistant_id: 'large', input: { text, appends } })
  const values = await weir.json<{ text: string; steps: number }>(`${base}/${thread_id}/runs/wait`, body)
  return { thread_id, ...values }
}

export function openRuns(home: string, database_url: string | undefined): Database {
  if (database_url !== undefined) return openPostgres(`${database_url}?options=-c%20search_path%3Dweir_runs`)
  return openSqlite(join(home, 'runs.db'), { readOnly: true })
}

/** Bytes of the texts in each column of the run database that has at least `least`. */
export async function columnBytes(database: Database, least: number): Promise<Record<string, number>> {
  const columns = await database.query<{ table_name: string; column_name: string }>(
    database.dialect === 'sqlite'
      ? `SELECT m.name AS table_name, p.name AS column_name FROM sqlite_master m, pragma_table_info(m.name) p
          WHERE m.type = 'table' AND p.type = 'TEXT'`
      : `SELECT table_name, column_name FROM information_schema.columns
          WHERE table_schema = 'weir_runs' AND data_type = 'text'`,
  )
  const found: Record<string, number> = {}
  for (const { table_name, column_name } of columns) {
    const [row] = await database.query<{ bytes: number | null }>(
      `SELECT sum(octet_length(${column_name})) AS bytes FROM ${table_name}`,
    )
    if ((row?.bytes ?? 0) >= least) found[`${table_name}.${column_name}`] = row?.bytes ?? 0
  }
  return found
}

/** Bytes of the run database's files on SQLite. */
export async function runFileBytes(home: string): Promise<number> {
  const sizes = ['runs.db', 'runs.db-wal'].map(async (name) => {
    const found = await stat(join(home, name)).catch(() => undefined)
    return found?.size ?? 0
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
