import { AppError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/log.ts'
import { countLines } from '../../../backup/lines.ts'
import type { TableLoader, TableReader } from '../../../backup/stores.ts'
import type { ClickHouse } from '../connect.ts'
import { NOT_HIDDEN } from '../fragments/hidden-fragments.ts'
import { migrate } from '../migrate.ts'

/**
 * The tables of a backup in the order in which they are read. Derived rows are read before the rows from which they
 * were made, so that the backup contains the source of each derived row. Records of finished work (repairs, and
 * children that no longer wait) are read before the results of that work. The other tables are not copied, because
 * views fill them again.
 */
export const COPIED_TABLES = [
  'repairs',
  'usage_rollups',
  'usage_marks',
  'usage_traces',
  'usage_claims',
  'waiting_children',
  'runs',
  'feedback',
  'run_fragments',
  'fragments',
] as const

/** Tables that views fill from the rows of `runs` and of fragments, and the figures that are computed from them. */
export const VIEWED_TABLES = [
  'trace_runs',
  'run_places',
  'thread_runs',
  'filtered_spans',
  'fragment_places',
  'attachment_uses',
  'hour_changes',
  'figure_hours',
  'figure_days',
  'thread_hours',
  'run_hours',
] as const

const TAB = 0x09
const NEWLINE = 0x0a

/**
 * Reads the tables of a ClickHouse; other processes may write to it at the same time. @throws AppError
 * store_unavailable
 */
export async function readClickHouseTables(clickhouse: ClickHouse): Promise<TableReader> {
  const versions = await clickhouse.rows<{ version: number }>(
    'SELECT max(version) AS version FROM schema_migrations',
  )
  const existing = await clickhouse.rows<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  )
  const names = new Set(existing.map(({ name }) => name))
  return {
    version: versions[0]?.version ?? 0,
    tables: COPIED_TABLES.filter((table) => names.has(table)),
    async read(table) {
      // ClickHouse computes the other columns during an insert.
      const columns = await clickhouse.rows<{ name: string }>(
        `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}
           AND default_kind NOT IN ('MATERIALIZED', 'ALIAS', 'EPHEMERAL') ORDER BY position`,
        { params: { table } },
      )
      const list = columns.map(({ name }) => name)
      const kept = table === 'fragments' && names.has('hidden_fragments') ? ` WHERE ${NOT_HIDDEN}` : ''
      const lines = await clickhouse.lines(`SELECT ${list.join(', ')} FROM ${table}${kept}`)
      return { columns: list, lines: wholeRows(lines, list.length) }
    },
    close: () => Promise.resolve(),
  }
}

/**
 * Returns the lines unchanged. @throws AppError when the last line is not a row: a server may end the stream with an
 * error.
 */
async function* wholeRows(lines: AsyncIterable<Buffer>, columns: number): AsyncGenerator<Buffer> {
  let isEnded = true
  let tabs = columns - 1
  try {
    for await (const piece of lines) {
      const start = piece.subarray(0, -1).lastIndexOf(NEWLINE) + 1
      const inLine = start === 0 && !isEnded
      tabs = (inLine ? tabs : 0) + countTabs(piece.subarray(start))
      isEnded = piece.at(-1) === NEWLINE
      yield piece
    }
  } catch (cause) {
    throw new AppError('store_unavailable', { message: 'ClickHouse ended a read of the backup.', cause })
  }
  if (isEnded && tabs === columns - 1) return
  throw new AppError('store_unavailable', { message: 'ClickHouse ended a read of the backup with an error.' })
}

function countTabs(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(TAB); at !== -1; at = bytes.indexOf(TAB, at + 1)) count++
  return count
}

/** Restores tables into the database of the connection. `place` is the name of the database in messages. */
export function createClickHouseLoader(
  clickhouse: ClickHouse,
  { place, logger }: { place: string; logger: Logger },
): TableLoader {
  return {
    async assertEmpty() {
      await clickhouse.createDatabase()
      const [found] = await clickhouse.rows<{ name: string }>(
        'SELECT name FROM system.tables WHERE database = currentDatabase() LIMIT 1',
      )
      if (found !== undefined)
        throw new AppError('store_not_empty', {
          message: `${place} is not empty: it has the table ${found.name}. A backup is restored into empty stores only.`,
        })
    },
    async prepare(version) {
      const done = await migrate(clickhouse, { logger, last: version })
      if ((done.at(-1) ?? 0) !== version)
        throw new AppError('backup_unusable', {
          message: `The backup was made at version ${version} of the tables of ClickHouse, and this release knows ${done.at(-1) ?? 0}. Use a later release.`,
        })
    },
    async load(table, columns, pieces) {
      let count = 0
      for await (const piece of pieces) {
        await clickhouse.insert({
          table,
          columns,
          format: 'TabSeparated',
          body: piece,
          // The rows of a piece may belong to more monthly partitions than ClickHouse allows in one insert by default.
          settings: { max_partitions_per_insert_block: 0 },
        })
        count += countLines(piece)
      }
      return count
    },
    close: () => clickhouse.close(),
  }
}
