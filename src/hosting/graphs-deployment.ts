import { basename, resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { uuidOfName } from '../base/ids.ts'
import type { Config } from '../config.ts'
import { NO_COMMANDS } from '../deploy/model.ts'
import type { ServerDeployment } from '../deploy/stores/server-deployment.ts'
import { type DeploymentFile, readDeploymentFile } from '../graph/project/deployment-file.ts'
import { readWebhookRules } from '../runs/webhooks/rules.ts'
import { connectionShares } from '../storage/sql/driver/postgres/connection-budget.ts'
import { beginServing, type DeploymentApis, type OpenRevision, openServed } from './revision/revision.ts'
import { ensureAssistants, type OpenDeployment } from './revision/serving.ts'
import { startProcesses } from './revision/start-processes.ts'
import type { DeploymentParts } from './run-state/run-state.ts'
import { shareGraphs } from './run-state/shared-graphs.ts'
import { openRunStores, type SharedRuns, startSharedRuns } from './run-state/shared-runs.ts'

/** The deployment of `GRAPHS`, whose only revision serves, and the parts that it shares with other deployments. */
export interface GraphsDeployment extends ServerDeployment {
  open: OpenRevision
  shared: SharedRuns
  openApi(apis: DeploymentApis): Promise<void>
}

/** The langgraph.json of `GRAPHS`, and the name of its deployment. */
export interface GraphsProject {
  file: DeploymentFile
  name: string
}

/** Undefined without `GRAPHS`. @throws AppError config_invalid */
export async function readGraphsProject({
  hosted,
  runs,
}: Pick<Config, 'hosted' | 'runs'>): Promise<GraphsProject | undefined> {
  if (hosted === undefined) return undefined
  const file = await readDeploymentFile(resolve(hosted.graphs), runs.environment)
  return { file, name: hosted.name ?? basename(file.folder) }
}

/**
 * Opens the project of `GRAPHS`; runs of earlier processes continue. It is code of the person who administers the
 * server: its processes are not isolated and have the server's variables, and hosts of TypeScript graphs open the
 * run database themselves. It serves while its graphs load, and also if one cannot be loaded.
 */
export async function openGraphsDeployment(
  parts: DeploymentParts & {
    /** Creation time of the deployment, epoch milliseconds. */
    created_at: number
  },
  { file, name }: GraphsProject,
): Promise<GraphsDeployment> {
  const { config, servers, logger, workspace_id } = parts
  const tenant = { workspace_id, deployment_id: uuidOfName(name, workspace_id) }
  const state = await openRunStores(parts)
  const stops = new AsyncDisposableStack()
  parts.stops.defer(() => stops.disposeAsync())
  const own = { ...parts, stops, watch: config.hosted?.watch }
  const open = await startProcesses(
    { ...own, state },
    {
      tenant,
      name,
      file,
      webhookRules: readWebhookRules(file, [file.env, config.runs.environment]),
      storage: state.storage,
      maxHosts: connectionShares(config.databaseConnections).hosts,
    },
  )
  await ensureAssistants(state, open)
  // Other servers may have different graphs while they are restarted one by one.
  const others =
    servers &&
    shareGraphs({
      deployment: { ...tenant, name },
      own: () => open.host.graphs().map(({ graph_id }) => graph_id),
      servers,
      store: state.store,
      clock: state.clock,
      logger,
      stops,
    })
  const served = openServed(own, state, open, { revision_id: null, isFirst: true, graphs: others?.claimed })
  // The worker, which starts here, sets the state of threads whose runs an earlier process has left.
  state.served.set(tenant.deployment_id, served)
  const shared = await startSharedRuns(parts, state, file)
  const record = recordOf(open, parts.created_at)
  const { revision } = record
  const serving = beginServing(own, shared, { served, open, revision, hasGraph: others?.has })
  return { ...record, shared, open: serving, openApi: (apis) => apis.open(serving.running, stops) }
}

function recordOf({ tenant, name, file }: OpenDeployment, created_at: number): ServerDeployment {
  const { workspace_id, deployment_id: id } = tenant
  const revision_id = uuidOfName('GRAPHS', id)
  const started_at = systemClock.now()
  const graphs = file.graphs.map(({ graph_id }) => graph_id)
  const commands = NO_COMMANDS
  const identity = {
    id,
    workspace_id,
    organization_id: '',
    name,
    type: 'prod',
    managed_by: 'server',
  } as const
  const revisions = { latest_revision_id: revision_id, active_revision_id: revision_id }
  const state = { number: 1, status: 'DEPLOYED', error: null, graphs, created_by: 'GRAPHS' } as const
  const source = { source_path: null, source_sha256: null, config_path: basename(file.path), commands }
  const build = { artifact_sha256: null, rolled_back_from: null, timings: {}, builds: 0 }
  return {
    deployment: { ...identity, ...revisions, secrets: [], commands, created_at, updated_at: created_at },
    revision: {
      id: revision_id,
      deployment_id: id,
      ...state,
      ...source,
      ...build,
      created_at: started_at,
      updated_at: started_at,
    },
  }
}
