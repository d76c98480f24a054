import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Sealer } from '../../base/node/sealer.ts'
import type { GraphHost } from '../../runs/execute/graph-host.ts'
import type { Reachable } from '../../runs/access/deployment-for.ts'
import type { AccessUser, Tenant } from '../../runs/model.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { DispatchDeps } from '../server/dispatch.ts'
import type { Observer } from '../server/observe.ts'
import type { Outflow } from '../server/outflow.ts'
import type { StoreChecks } from '../../base/background/store-checks.ts'
import type { CorsRules } from '../server/browser/cors.ts'
import type { Sse } from './sse/sse.ts'

/** Dependencies of the deployment API, passed in by the composition root. `Reachable` has the use cases. */
export interface DeploymentDeps extends DispatchDeps, Reachable {
  name: string
  tenant: Tenant
  host: Pick<GraphHost, 'graphs' | 'call'>
  /**
   * The UI components of graphs; undefined if the project has none. `bundle` returns the files of a graph by name.
   * @throws AppError ui_unavailable
   */
  ui: { bundle(graph_id: string): Promise<ReadonlyMap<string, Uint8Array> | undefined> } | undefined
  /** The script of pages that show a UI component; undefined while the web interface is not built. */
  frameScript?(): Promise<Uint8Array | undefined>
  /** Selects the headers of a request that graphs may read. */
  headersFor(headers: Readonly<Record<string, string | string[] | undefined>>): JsonObject
  /** Checks of `/ok?check_db=1`. */
  checks: StoreChecks
  metrics: Metrics
  logger: Logger
  clock: Clock
  /** The observer of the server, which measures requests of both APIs. */
  observer: Observer
  cors: CorsRules
  /** Origin under which clients reach this address; undefined for that of the request. */
  public_url?: string | undefined
  sse: Sse
  /** The authorization server for clients of MCP; absent at addresses that it does not have, and with an auth file. */
  authorizes?: { publicUrl: string | undefined }
  /** Seals what clients keep for the server. */
  sealer(): Promise<Sealer>
  /** The server's writer of large responses. */
  outflow: Outflow
  /** The user that the deployment's own auth file identified; undefined for the holder of a key. */
  user?: AccessUser
  /** Whether runs are recorded as traces. */
  tracing: boolean
  /** Version of this program, e.g. `0.1.0`. */
  version: string
  langgraph_version: string
}
