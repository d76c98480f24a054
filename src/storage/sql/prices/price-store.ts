import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { newUuid } from '../../../base/ids.ts'
import type { PriceFields, PriceSnapshot, PriceStore } from '../../../ingest/prices/price-store.ts'
import type { PriceEntry } from '../../../trace/price/book.ts'
import type { Database, SqlSession, SqlValue } from '../driver/database.ts'

/** A row of the table, with JSON text in these columns. */
interface PriceRow
  extends Omit<PriceEntry, 'match_path' | 'conditions' | 'prompt_cost_details' | 'completion_cost_details'> {
  match_path: string
  conditions: string
  prompt_cost_details: string
  completion_cost_details: string
}

const COLUMNS = [
  'workspace_id',
  'id',
  'name',
  'match_pattern',
  'match_path',
  'provider',
  'start_time',
  'prompt_token_threshold',
  'conditions',
  'prompt_cost',
  'completion_cost',
  'prompt_cost_details',
  'completion_cost_details',
] as const
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM model_prices`

/** Maximum number of entries. It is limited because each new model name may be compared with every entry. */
const MAX_ENTRIES = 300
/** Maximum delay until an entry changed by another process is used. */
const MAX_AGE_MS = 5_000

function toEntry(row: PriceRow): PriceEntry {
  return {
    ...row,
    match_path: JSON.parse(row.match_path) as string[],
    conditions: JSON.parse(row.conditions) as Record<string, string>,
    prompt_cost_details: JSON.parse(row.prompt_cost_details) as Record<string, string>,
    completion_cost_details: JSON.parse(row.completion_cost_details) as Record<string, string>,
  }
}

function toValues(entry: PriceEntry): SqlValue[] {
  const row: PriceRow = {
    ...entry,
    match_path: JSON.stringify(entry.match_path),
    conditions: JSON.stringify(entry.conditions),
    prompt_cost_details: JSON.stringify(entry.prompt_cost_details),
    completion_cost_details: JSON.stringify(entry.completion_cost_details),
  }
  return COLUMNS.map((column) => row[column])
}

async function entriesOf(session: SqlSession, workspace_id: string): Promise<PriceEntry[]> {
  const sql = `${SELECT} WHERE workspace_id = ? ORDER BY created_at, id`
  const rows = await session.query<PriceRow>(sql, [workspace_id])
  // Sorted here, because engines order text differently.
  return rows.map(toEntry).toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/**
 * What an entry applies to, as a key. No two entries may have the same key: neither would take precedence over the
 * other.
 */
function keyOf(entry: PriceFields): string {
  const { name, match_pattern, match_path, provider, start_time, prompt_token_threshold } = entry
  const conditions = Object.entries(entry.conditions).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const place = [name, match_pattern, match_path, provider, start_time, prompt_token_threshold]
  return JSON.stringify([...place, conditions])
}

async function refuseTwin(session: SqlSession, entry: PriceEntry): Promise<void> {
  const others = (await entriesOf(session, entry.workspace_id)).filter(({ id }) => id !== entry.id)
  if (others.some((other) => keyOf(other) === keyOf(entry))) {
    throw new AppError('conflict', {
      message:
        'There is an entry of this name, pattern, path, provider, start time, threshold and conditions already.',
    })
  }
  if (others.length >= MAX_ENTRIES) {
    throw new AppError('conflict', { message: `A workspace may have ${MAX_ENTRIES} prices of its own.` })
  }
}

/**
 * Snapshots of all entries. They are read again after a change in this process and after MAX_AGE_MS. If reading fails,
 * the previous snapshot is used.
 */
function createSnapshots(database: Database, clock: Clock) {
  let held: { snapshot: PriceSnapshot; text: string; until: number } | undefined
  let changes = 0
  let versions = 0
  return {
    forget: (): void => {
      changes++
      held = held && { ...held, until: 0 }
    },
    async current(): Promise<PriceSnapshot> {
      const now = clock.steady()
      if (held && now < held.until) return held.snapshot
      const before = changes
      const rows = await database
        .query<PriceRow>(`${SELECT} ORDER BY workspace_id, id`)
        .catch((cause: unknown) => cause)
      if (!Array.isArray(rows)) {
        if (held) return held.snapshot
        throw new AppError('store_unavailable', { cause: rows })
      }
      const entries = (rows as PriceRow[]).map(toEntry)
      const text = JSON.stringify(entries)
      const snapshot = held?.text === text ? held.snapshot : { version: ++versions, entries }
      held = { snapshot, text, until: before === changes ? now + MAX_AGE_MS : 0 }
      return snapshot
    },
  }
}

/** Own prices in a SQL database that has been migrated. */
export function createPriceStore(database: Database, clock: Clock): PriceStore {
  const snapshots = createSnapshots(database, clock)
  const changing = async <T>(workspace_id: string, work: (session: SqlSession) => Promise<T>): Promise<T> => {
    const result = await database.tx(`prices:${workspace_id}`, work)
    snapshots.forget()
    return result
  }
  return {
    snapshot: () => snapshots.current(),
    list: (workspace_id) => entriesOf(database, workspace_id),
    create: (workspace_id, fields) =>
      changing(workspace_id, async (session) => {
        const entry: PriceEntry = { ...fields, workspace_id, id: newUuid() }
        await refuseTwin(session, entry)
        const places = COLUMNS.map(() => '?').join(', ')
        await session.query(
          `INSERT INTO model_prices (${COLUMNS.join(', ')}, created_at) VALUES (${places}, ?)`,
          [...toValues(entry), clock.now()],
        )
        return entry
      }),
    replace: (workspace_id, id, fields) =>
      changing(workspace_id, async (session) => {
        const entry: PriceEntry = { ...fields, workspace_id, id }
        const known = (await entriesOf(session, workspace_id)).some((other) => other.id === id)
        if (!known) return undefined
        await refuseTwin(session, entry)
        const sets = COLUMNS.map((column) => `${column} = ?`).join(', ')
        await session.query(`UPDATE model_prices SET ${sets} WHERE workspace_id = ? AND id = ?`, [
          ...toValues(entry),
          workspace_id,
          id,
        ])
        return entry
      }),
    remove: (workspace_id, id) =>
      changing(workspace_id, async (session) => {
        const rows = await session.query(
          'DELETE FROM model_prices WHERE workspace_id = ? AND id = ? RETURNING id',
          [workspace_id, id],
        )
        return rows.length > 0
      }),
  }
}
