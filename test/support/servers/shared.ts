import { inject } from 'vitest'

/** A borrowed server, and the organization that was made for the borrower. */
export interface LentWeir {
  id: string
  url: string
  deploymentUrl: string
  otlpGrpcUrl: string
  /** Key of the organization's admin, with its only workspace as the default. */
  key: string
}

/** The responses of the process that shares servers, by path. */
export interface Shared {
  /** URL of an empty database. */
  '/postgres': { url: string }
  /** An engine; each user creates a database with a unique name. */
  '/clickhouse': { url: string; username: string; password: string }
  /** Statements that create Weir's tables in an empty database of that engine. */
  '/clickhouse/tables': string[]
  /** The same for an engine with two shards. */
  '/two-shards': { url: string; username: string; password: string }
  '/two-shards/tables': string[]
  /** A data folder with the empty tables of an embedded ClickHouse. */
  '/first-clickhouse': { dir: string }
  /** A server for exclusive use until it is given back, with an empty organization. */
  '/weir': LentWeir
  /**
   * Like `/weir`, but with the organization of the deployment, which other files use too: their runs are there. The
   * argument is another folder of graphs.
   */
  '/weir/deployment': LentWeir
  /** Returns the server whose id is the argument to the pool; fails if the server has logged an error. */
  '/weir/give-back': null
}

/** Requests the use of a shared server. */
export async function shared<Path extends keyof Shared>(path: Path, argument = ''): Promise<Shared[Path]> {
  const response = await fetch(`${inject('sharedServers')}${path}?argument=${argument}`)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text) as Shared[Path]
}
