import { newUuid } from '../../base/ids.ts'
import type { Database } from './driver/database.ts'
import { DATABASE_NOW as NOW } from './driver/postgres/database-clock.ts'

/** A server process that shares the database with others. */
export interface RegisteredServer {
  /** Id of this process, new with each start. */
  id: string
  /** Id of its DATA_DIR. */
  instance_id: string
  /**
   * Where its attachments are stored. `local`: files that only this server can read. `shared`: a store that all servers
   * can read.
   */
  blobs: 'local' | 'shared'
  /** Fingerprints of settings that must be the same on all servers; servers of an older release lack some. */
  settings: Readonly<Record<string, string | null>>
}

/** This server with the names (`graphName`) of the graphs of its `GRAPHS`, and its `RUN_VERSION`. */
export type AnnouncedServer = Omit<RegisteredServer, 'id'> & {
  graphs: readonly string[]
  run_version: number
}

/** The servers that share a Postgres database. Times are from the database's clock. */
export interface ServerRegistry {
  /** Records that this server is running. Resolves with the other running servers that started before this one. */
  announce(server: AnnouncedServer): Promise<RegisteredServer[]>
  withdraw(): Promise<void>
  /** The graphs of all servers that have run in the last `GRAPHS_KEPT_MS`. */
  graphs(): Promise<ReadonlySet<string>>
  /**
   * The newest `RUN_VERSION` of the servers that have run in the last `GRAPHS_KEPT_MS`; undefined if there was none.
   */
  runVersion(): Promise<number | undefined>
  /** Number of other running servers. */
  others(): Promise<number>
  /** Number of servers that have run in the last `ms`; one that was restarted counts again. */
  recent(ms: number): Promise<number>
}

/** Time without an announcement after which a server counts as ended. */
export const DEAD_MS = 30_000
/** The graphs and the version of an ended server count for this time, because the server may be restarting. */
export const GRAPHS_KEPT_MS = 10 * 60_000
const FORGOTTEN_MS = 24 * 3_600_000

/** A name of a graph that is unique over all deployments. */
export function graphName(deployment: string, graph_id: string): string {
  return `${deployment}/${graph_id}`
}

/**
 * `database` must be a Postgres, because servers cannot share a SQLite file. A process must make only one registry,
 * whose id identifies the process.
 */
export function createServerRegistry(database: Database): ServerRegistry {
  const id = newUuid()
  return {
    async announce({ instance_id, blobs, settings, graphs, run_version }) {
      await database.query(
        `INSERT INTO servers (id, instance_id, blobs, settings, graphs, run_version, started_at, seen_at)
          VALUES (?, ?, ?, ?, ?, ?, ${NOW}, ${NOW})
          ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
        [id, instance_id, blobs, JSON.stringify(settings), JSON.stringify(graphs), run_version],
      )
      await database.query(`DELETE FROM servers WHERE seen_at < ${NOW} - ${FORGOTTEN_MS}`)
      const others = await database.query<Omit<RegisteredServer, 'settings'> & { settings: string }>(
        `SELECT other.id, other.instance_id, other.blobs, other.settings FROM servers other JOIN servers own ON own.id = ?
          WHERE other.seen_at > ${NOW} - ${DEAD_MS} AND (other.started_at, other.id) < (own.started_at, own.id)`,
        [id],
      )
      return others.map((other) => ({
        ...other,
        settings: JSON.parse(other.settings) as RegisteredServer['settings'],
      }))
    },
    async withdraw() {
      const dead = `${NOW} - ${DEAD_MS}`
      await database.query(`UPDATE servers SET seen_at = least(seen_at, ${dead}) WHERE id = ?`, [id])
    },
    async graphs() {
      const rows = await database.query<{ graphs: string }>(
        `SELECT DISTINCT graphs FROM servers WHERE seen_at > ${NOW} - ${DEAD_MS + GRAPHS_KEPT_MS}`,
      )
      return new Set(rows.flatMap(({ graphs }) => JSON.parse(graphs) as string[]))
    },
    async runVersion() {
      const [row] = await database.query<{ newest: number | null }>(
        `SELECT max(run_version) AS newest FROM servers WHERE seen_at > ${NOW} - ${DEAD_MS + GRAPHS_KEPT_MS}`,
      )
      return row?.newest ?? undefined
    },
    async others() {
      const [row] = await database.query<{ n: number }>(
        `SELECT count(*) AS n FROM servers WHERE id <> ? AND seen_at > ${NOW} - ${DEAD_MS}`,
        [id],
      )
      return row?.n ?? 0
    },
    async recent(ms) {
      const [row] = await database.query<{ n: number }>(
        `SELECT count(*) AS n FROM servers WHERE seen_at > ${NOW} - ?`,
        [DEAD_MS + ms],
      )
      return row?.n ?? 0
    },
  }
}
