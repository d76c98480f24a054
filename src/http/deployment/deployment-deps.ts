import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { AssistantStore } from '../../runs/assistant-store.ts'
import type { Crons } from '../../runs/crons.ts'
import type { GraphHost } from '../../runs/graph-host.ts'
import type { ItemVerbs } from '../../runs/access/items.ts'
import type { Lists } from '../../runs/lists.ts'
import type { AccessUser, Tenant } from '../../runs/model.ts'
import type { AssistantFacts } from '../../runs/plan-run.ts'
import type { Runs } from '../../runs/runs.ts'
import type { Streams } from '../../runs/streams.ts'
import type { Threads } from '../../runs/threads.ts'
import type { DispatchDeps } from '../dispatch.ts'
import type { Observer } from '../observe.ts'
import type { Outflow } from '../outflow.ts'
import type { StoreChecks } from '../store-checks.ts'
import type { CorsRules } from './cors.ts'
import type { Sse } from './sse/sse.ts'

/** What one deployment does, without HTTP. */
export interface DeploymentParts {
  name: string
  tenant: Tenant
  runs: Runs
  threads: Threads
  streams: Streams
  crons: Crons
  assistants: AssistantStore
  items: ItemVerbs
  lists: Lists
  host: Pick<GraphHost, 'graphs' | 'call'>
  /** By id or by name of its graph. */
  findAssistant(tenant: Tenant, id_or_graph: string): Promise<AssistantFacts | undefined>
  /** Files of the UI components of a graph by name. Undefined: the project has none. @throws AppError ui_unavailable */
  ui: { bundle(graph_id: string): Promise<ReadonlyMap<string, Uint8Array> | undefined> } | undefined
  /** The headers of a request that graphs may read (run-api 1.1). */
  headersFor(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string>
  /** What `/ok?check_db=1` asks. */
  checks: StoreChecks
}

/** What the deployment API stands on; the composition root hands it in. */
export interface DeploymentDeps extends DispatchDeps, DeploymentParts {
  metrics: Metrics
  logger: Logger
  clock: Clock
  /** The server's: requests of both APIs are measured together. */
  observer: Observer
  cors: CorsRules
  sse: Sse
  /** The server's: of large answers. */
  outflow: Outflow
  /** Who calls, as the deployment's own auth file knows them; undefined for the holder of a key. */
  user?: AccessUser
  /** Runs are recorded as traces. */
  tracing: boolean
  /** Of this program, e.g. `0.1.0`. */
  version: string
  /** Of LangGraph, which the hosts run. */
  langgraph_version: string
}
