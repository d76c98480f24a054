import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { ClickHouse, StatementOptions } from './connect.ts'
import { migrationChecksum, worksAfter } from '../migration-checksum.ts'
import { schemaStatements, systemRows } from './cluster/layout.ts'

export interface MigrateOptions {
  /** Folder of files named `NNNN_name.sql`; default: the product's own, beside this file. */
  readonly dir?: string | URL
  readonly logger: Logger
  /** The last version to apply; default: the newest. */
  readonly last?: number
  /**
   * Whether servers of a newer release may use the database. A newer database is then accepted if this program can work
   * beside them.
   */
  readonly shared?: boolean
}

interface Migration {
  readonly version: number
  readonly name: string
  readonly statements: readonly string[]
  readonly checksum: string
}

interface AppliedMigration {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

const CREATE_MIGRATIONS = `CREATE TABLE IF NOT EXISTS schema_migrations (version UInt32, name String, checksum String,
     applied_at DateTime64(3) DEFAULT now64(3)) ENGINE = ReplacingMergeTree ORDER BY version`
/** Begins to build indexes in the background of ClickHouse. */
const BUILD = /^ALTER TABLE \w+\s+MATERIALIZE INDEX\b/
/** ClickHouse makes such a change of a table after all of its builds, and waits for them. */
const AFTER_BUILDS = /^ALTER TABLE (\w+)\s+(?:DROP|MODIFY (?:COLUMN|TTL))\b/
const BUILDS_LOOK_MS = 250
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/

/**
 * Creates the database if needed, applies all pending migrations and returns their versions. There is no way back to an
 * older version. A migration is recorded after its last statement, alone or together with others (stepsOf). What was
 * interrupted runs again, so statements must be repeatable (IF NOT EXISTS). Rejects with `config_invalid` when an applied
 * file has changed since, or a newer release made the database (see `shared`).
 */
export async function migrate(clickhouse: ClickHouse, options: MigrateOptions): Promise<number[]> {
  const migrations = await readMigrations(options.dir ?? new URL('./migrations/', import.meta.url))
  await clickhouse.createDatabase()
  await changeSchema(clickhouse, CREATE_MIGRATIONS)
  const applied = await clickhouse.rows<AppliedMigration>(
    'SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version',
  )
  checkApplied(migrations, applied, options.shared ?? false)
  const newest = applied.at(-1)?.version ?? 0
  const last = options.last ?? Number.POSITIVE_INFINITY
  const pending = migrations.filter(({ version }) => version > newest && version <= last)
  for (const step of stepsOf(pending, applied.length === 0)) await apply(clickhouse, step, options.logger)
  return pending.map((migration) => migration.version)
}

/**
 * The statements of a migration file: split at lines that end with a semicolon; parts with comments only are dropped.
 */
export function splitStatements(text: string): string[] {
  return text
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => withoutComments(statement) !== '')
}

async function readMigrations(dir: string | URL): Promise<Migration[]> {
  const folder = dir instanceof URL ? fileURLToPath(dir) : dir
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  const migrations: Migration[] = []
  for (const file of files) {
    const [, digits, name] = FILE_NAME.exec(file) ?? []
    if (digits === undefined || name === undefined) throw refused(`${file} is not named NNNN_name.sql.`)
    const version = Number(digits)
    if (version <= (migrations.at(-1)?.version ?? 0)) throw refused(`${file} repeats a version.`)
    const text = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n')
    migrations.push({ version, name, statements: splitStatements(text), checksum: migrationChecksum(text) })
  }
  return migrations
}

function checkApplied(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  shared: boolean,
): void {
  const own = migrations.at(-1)?.version ?? 0
  const further = applied.filter(({ version }) => version > own)
  const mayBeNewer = shared && worksAfter(further, own)
  const known = new Map(migrations.map((migration) => [migration.version, migration]))
  const done = new Set(applied.map((row) => row.version))
  for (const row of applied) {
    const migration = known.get(row.version)
    const label = `${String(row.version).padStart(4, '0')}_${row.name}`
    if (migration === undefined) {
      if (mayBeNewer && row.version > own) continue
      throw refused(`the database has migration ${label}, which this release does not know: use a newer one.`)
    }
    if (migration.checksum !== row.checksum) {
      throw refused(`migration ${label} has changed since it was applied: add a new one instead.`)
    }
  }
  const newest = applied.at(-1)?.version ?? 0
  const skipped = migrations.find((migration) => migration.version < newest && !done.has(migration.version))
  if (skipped !== undefined) {
    throw refused(
      `migration ${skipped.version} comes before ${newest}, which is applied already: renumber it.`,
    )
  }
}

/**
 * The migrations that are recorded together. In a new database these are all: twelve separate inserts took a third of the
 * time of all migrations. In others, those from the first one that builds indexes.
 */
function stepsOf(pending: readonly Migration[], isNew: boolean): (readonly Migration[])[] {
  const alone = isNew ? [] : pending.slice(0, firstBuild(pending))
  const together = pending.slice(alone.length)
  return [...alone.map((migration) => [migration]), ...(together.length > 0 ? [together] : [])]
}

/** Index of the first migration that builds indexes; the number of migrations if none does. */
function firstBuild(migrations: readonly Migration[]): number {
  const found = migrations.findIndex(({ statements }) => statements.some(isBuild))
  return found === -1 ? migrations.length : found
}

function isBuild(statement: string): boolean {
  return BUILD.test(withoutComments(statement))
}

function withoutComments(statement: string): string {
  return statement.replace(/^[ \t]*--.*$/gm, '').trim()
}

/**
 * Runs migrations, and records those that succeeded, even if a later one fails. Indexes are built after the last
 * migration, because other changes of their table would wait until they are built; no migration with a build is recorded
 * before that.
 */
async function apply(
  clickhouse: ClickHouse,
  migrations: readonly Migration[],
  logger: Logger,
): Promise<void> {
  let applied: AppliedMigration[] = []
  let begun = false
  try {
    for (const { version, name, checksum, statements } of migrations) {
      for (const statement of statements) {
        if (isBuild(statement)) continue
        await untilBuilt(clickhouse, statement, logger)
        await changeSchema(clickhouse, statement)
      }
      applied.push({ version, name, checksum })
    }
    for (const build of migrations.flatMap(({ statements }) => statements.filter(isBuild)))
      await changeSchema(clickhouse, build)
    begun = true
  } finally {
    if (!begun) applied = applied.slice(0, firstBuild(migrations))
    await record(clickhouse, applied)
  }
  const version = applied.at(-1)?.version
  if (version !== undefined)
    logger.info({ version, applied: applied.length }, 'the ClickHouse tables are migrated')
}

/**
 * Waits for builds that an earlier start has begun, if ClickHouse makes this change after them. Its own wait would end
 * with the time limit of statements, and the start with it; the next start would begin these builds again.
 */
async function untilBuilt(clickhouse: ClickHouse, statement: string, logger: Logger): Promise<void> {
  const [, table] = AFTER_BUILDS.exec(withoutComments(statement)) ?? []
  if (table === undefined) return
  const sql = `SELECT count() AS left FROM ${systemRows('mutations', table, clickhouse)}
    AND NOT is_done AND latest_fail_reason = ''`
  const left = async (): Promise<number> => (await clickhouse.rows<{ left: number }>(sql)).at(0)?.left ?? 0
  if ((await left()) === 0) return
  logger.info({ table }, 'the start waits until ClickHouse has built the indexes of a table')
  do await delay(BUILDS_LOOK_MS)
  while ((await left()) > 0)
}

async function record(clickhouse: ClickHouse, applied: readonly AppliedMigration[]): Promise<void> {
  await clickhouse.insert({
    table: 'schema_migrations',
    columns: ['version', 'name', 'checksum'],
    format: 'JSONEachRow',
    body: Buffer.from(applied.map((row) => JSON.stringify(row)).join('\n')),
  })
}

/** Executes a schema statement, on all servers of a cluster. */
export async function changeSchema(
  clickhouse: ClickHouse,
  statement: string,
  options: StatementOptions = {},
): Promise<void> {
  for (const one of schemaStatements(statement, clickhouse)) await clickhouse.command(one, options)
}

function refused(message: string): AppError {
  return new AppError('config_invalid', { message: `ClickHouse migrations: ${message}` })
}
