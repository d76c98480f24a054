import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../base/errors.ts'
import { newUuid } from '../base/ids.ts'
import type { ClickHouse } from './clickhouse/connect.ts'
import { changeSchema } from './clickhouse/migrate.ts'
import { keptValue } from './files/kept-value.ts'
import type { RedisConnection } from './redis/redis.ts'
import type { Database } from './sql/driver/database.ts'

export interface MarkedStore {
  /** Name that stays the same when the address of the store changes. */
  name: string
  /** For messages: `ClickHouse (./data/clickhouse)`. */
  place: string
  /** Creates the table for the id. */
  prepare?(): Promise<void>
  /** The id; undefined for a store without one. */
  read(): Promise<string | undefined>
  write(id: string): Promise<void>
  /** Set for a store that may lose its data (Redis). The store is marked again after such a loss. */
  isForgetful?: true
}

export interface Installation {
  readonly id: string
  /**
   * Marks a store that is used for the first time. Resolves with a check, which rejects if the store was replaced
   * since.
   * @throws AppError store_changed for a store that was emptied, or belongs to another installation
   */
  claim(store: MarkedStore): Promise<() => Promise<void>>
}

const FILE = 'installation'
const CREATE_SQL = 'CREATE TABLE IF NOT EXISTS installation (one INTEGER PRIMARY KEY, id TEXT NOT NULL)'
const CREATE_MARKED = 'CREATE TABLE IF NOT EXISTS marked_stores (name TEXT PRIMARY KEY)'
const CREATE_CLICKHOUSE =
  'CREATE TABLE IF NOT EXISTS installation (id String) ENGINE = ReplacingMergeTree ORDER BY id'

/** Responses to clients do not contain `details.place`. */
function changed(place: string, what: string): AppError {
  return new AppError('store_changed', { message: `${place} ${what}`, details: { place } })
}

function emptied(place: string): AppError {
  return changed(
    place,
    `is empty, but this server has used it before. Restore its data. To continue with an empty store and lose that data, start once with --accept-empty-store.`,
  )
}

function foreign(place: string): AppError {
  return changed(
    place,
    `belongs to another installation than the other stores. Restore the original store, or correct the settings. To use it on purpose, remove its table (in a folder: its file) named installation.`,
  )
}

/** An SQL database, with a table for the id. */
export function sqlStore(name: string, place: string, database: Database): MarkedStore {
  return {
    name,
    place,
    prepare: () => database.tx('migrations', async (session) => void (await session.query(CREATE_SQL))),
    async read() {
      return (await database.query<{ id: string }>('SELECT id FROM installation'))[0]?.id
    },
    async write(id) {
      // When several servers start at once, the first id is kept.
      await database.query('INSERT INTO installation (one, id) VALUES (1, ?) ON CONFLICT DO NOTHING', [id])
      // Makes the row durable. Otherwise a power cut soon after the first start could leave this database empty while
      // other stores are marked.
      if (database.dialect === 'sqlite') await database.query('PRAGMA wal_checkpoint')
    },
  }
}

export function clickHouseStore(name: string, place: string, clickhouse: ClickHouse): MarkedStore {
  return {
    name,
    place,
    prepare: () => changeSchema(clickhouse, CREATE_CLICKHOUSE),
    async read() {
      return (await clickhouse.rows<{ id: string }>('SELECT id FROM installation ORDER BY id LIMIT 1'))[0]?.id
    },
    write: (id) => clickhouse.command('INSERT INTO installation (id) SELECT {id:String}', { params: { id } }),
  }
}

/** A folder that only this server uses. */
export function folderStore(name: string, path: string): MarkedStore {
  return {
    name,
    place: path,
    async read() {
      const text = await readFile(join(path, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return ''
        throw error
      })
      return text.trim() || undefined
    },
    async write(id) {
      await mkdir(path, { recursive: true, mode: 0o700 })
      await keptValue(path, FILE, () => id)
    },
  }
}

export function redisStore(redis: Pick<RedisConnection, 'command'>): MarkedStore {
  const key = 'weir:installation'
  return {
    name: 'redis',
    place: 'The Redis of REDIS_URL',
    isForgetful: true,
    async read() {
      const id = await redis.command('GET', key)
      return typeof id === 'string' ? id : undefined
    },
    write: async (id) => void (await redis.command('SET', key, id)),
  }
}

/**
 * Reads the installation id from the SQL database and `dataDir`; creates an id if neither has one. The database also
 * lists the marked stores: a store that is listed but has no id was emptied.
 * @throws AppError store_changed
 */
export async function openInstallation(options: {
  database: Database
  /** For messages, as in MarkedStore. */
  place: string
  dataDir: string
  /** Whether an emptied store is marked like a new one. */
  acceptEmpty: boolean
}): Promise<Installation> {
  const { database, place, dataDir, acceptEmpty } = options
  const sql = sqlStore('sql', place, database)
  const folder = folderStore('data', dataDir)
  await database.tx('migrations', (session) => session.query(CREATE_MARKED))
  await sql.prepare?.()
  const known = new Set(
    (await database.query<{ name: string }>('SELECT name FROM marked_stores')).map(({ name }) => name),
  )
  const ofFolder = await folder.read()
  let id = await sql.read()
  if (id === undefined) {
    if (ofFolder !== undefined && !acceptEmpty) throw emptied(place)
    await sql.write(ofFolder ?? newUuid())
    id = await sql.read()
  }
  if (id === undefined) throw new AppError('internal', { message: `${place} has no installation id.` })
  const own = id
  if (ofFolder !== undefined && ofFolder !== own) throw foreign(place)
  if (ofFolder === undefined) await folder.write(own)

  const check = async (store: MarkedStore): Promise<void> => {
    const found = await store.read()
    if (found === own || (found === undefined && store.isForgetful)) return
    throw found === undefined ? emptied(store.place) : foreign(store.place)
  }
  const mark = async (store: MarkedStore): Promise<void> => {
    await store.write(own)
    await database.query('INSERT INTO marked_stores (name) VALUES (?) ON CONFLICT DO NOTHING', [store.name])
    known.add(store.name)
  }
  return {
    id: own,
    async claim(store) {
      await store.prepare?.()
      const found = await store.read()
      const isNew =
        found === undefined && (!known.has(store.name) || acceptEmpty || store.isForgetful === true)
      if (isNew || (found === own && !known.has(store.name))) await mark(store)
      await check(store)
      return () => check(store)
    },
  }
}
