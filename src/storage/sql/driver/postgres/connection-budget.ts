import type { Logger } from '../../../../base/log.ts'
import type { Database } from '../database.ts'

/** The maximum number of connections to Postgres for each part of a server. */
export interface ConnectionShares {
  /** Connections for identity, projects, prices and deployments. */
  identity: number
  /** Connections for threads and runs, including those of hosts that access storage through the server. */
  runs: number
  /** Number of threads that read lists, including long lists; each has one connection. */
  lists: number
  longLists: number
  /** Number of graph hosts with their own connections, and connections of each. */
  hosts: number
  perHost: number
}

/** Connections that each server has: for the notifications of four channels, and one for long statements. */
const FIXED = 5

/**
 * Divides `total` connections (DATABASE_CONNECTIONS, at least 10) among the parts of a server. The shares and the FIXED
 * connections add up to `total`.
 */
export function connectionShares(total: number): ConnectionShares {
  const lists = total < 24 ? 1 : total < 64 ? 2 : 4
  const longLists = total < 64 ? 1 : 2
  const hosts = Math.min(8, Math.floor((total - 1) / 5))
  const perHost = Math.max(1, Math.floor(total / 32))
  const rest = total - FIXED - lists - longLists - hosts * perHost
  const identity = Math.max(1, Math.floor(rest / 3))
  return { identity, runs: rest - identity, lists, longLists, hosts, perHost }
}

/**
 * SELECT of the number of connections that the current user may open: the limit of the server without its reserved
 * connections, of the database, or of the role, whichever is lowest.
 */
const LIMITS = `SELECT LEAST(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - COALESCE(current_setting('reserved_connections', true)::int, 0),
    (SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
    (SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)) AS most`

/**
 * Logs the maximum number of connections of this server and of all servers, and warns if Postgres accepts fewer. In
 * that case, work may have to wait until other servers or programs close connections.
 */
export async function reportConnections(
  { database, logger }: { database: Pick<Database, 'query'>; logger: Logger },
  /** `divided` are those of `connectionShares`; `locks` are further ones. */
  { divided, locks }: { divided: number; locks: number },
  others: number,
): Promise<void> {
  const [row] = await database.query<{ most: number }>(LIMITS)
  const accepted = row?.most ?? 0
  const servers = others + 1
  const connections = divided + locks
  const facts = { connections, servers, together: connections * servers, accepted }
  logger.info({ ...facts, shares: connectionShares(divided) }, 'connections to Postgres at the most')
  if (facts.together > accepted)
    logger.warn(
      facts,
      'Postgres accepts fewer connections than the servers may open: under load they wait for each other. Set max_connections of Postgres higher, or DATABASE_CONNECTIONS lower.',
    )
}
