import { basename, resolve } from 'node:path'
import { uuidOfName } from '../base/ids.ts'
import type { HostedConfig } from '../config.ts'
import { startStorageBroker } from '../graph/broker/storage-broker.ts'
import type { GraphHosts } from '../graph/pool/pool.ts'
import { pickConfigurableHeaders } from '../graph/project/configurable-headers.ts'
import { readDeploymentFile } from '../graph/project/deployment-file.ts'
import { readStoreTtl } from '../graph/project/store-ttl.ts'
import { oneAtATime } from '../base/background/store-checks.ts'
import { systemAssistants } from '../runs/assistants/system.ts'
import type { Tenant } from '../runs/model.ts'
import { readWebhookRules } from '../runs/webhooks/rules.ts'
import { endLeftovers } from '../storage/child-processes.ts'
import { brokeredStorage } from './revision/brokered-storage.ts'
import { ownApiSocket } from './revision/own-api.ts'
import { type DeploymentParts, openRunState, type RunState, startWorking } from './run-state/run-state.ts'
import { type SharedGraphs, shareGraphs } from './run-state/shared-graphs.ts'
import {
  itemsOf,
  openUseCases,
  openWebhooks,
  type RunningDeployment,
  startUserAuth,
  webhookSender,
} from './revision/serving.ts'
import { type SharedRuns, repairUseCounts, startSweeping } from './run-state/shared-runs.ts'
import { connectionShares } from '../storage/sql/driver/postgres/connection-budget.ts'
import { startGraphHosts } from './revision/graph-hosts.ts'
import { startLists } from './threads/lists.ts'
import { followFile, startProject } from './revision/project.ts'

/** The deployment of `GRAPHS`, and the parts that it shares with the deployments of the control plane. */
export interface OwnDeployment extends RunningDeployment {
  shared: SharedRuns
}

/** Starts the parts of the deployment; runs of earlier processes continue. */
export async function startDeployment(
  parts: DeploymentParts & { hosted: HostedConfig },
): Promise<OwnDeployment> {
  const { config, hosted, logger } = parts
  const file = await readDeploymentFile(resolve(hosted.graphs), hosted.environment)
  const name = hosted.name ?? basename(file.folder)
  const tenant = { workspace_id: parts.workspace_id, deployment_id: uuidOfName(name, parts.workspace_id) }
  const state = await openRunState(parts)
  const { events, assistants, storage } = state
  await repairUseCounts(parts, state)
  await endLeftovers(resolve(config.dataDir), logger)
  const broker = await startStorageBroker(logger)
  parts.stops.defer(() => broker.close())
  const { promise: hosts, resolve: opened } = Promise.withResolvers<GraphHosts>()
  const brokered = brokeredStorage({ broker, state, config }, { tenant, file, hosts })
  const maxHosts = connectionShares(config.databaseConnections).hosts
  const ownApi = await ownApiSocket(parts)
  const { host, watch } = await startGraphHosts(parts, { file, storage, brokered, ownApi, name, maxHosts })
  opened(host)
  await assistants.ensure(tenant, systemAssistants(host.graphs()))
  await state.usage.keepName({ ...tenant, name })
  const items = itemsOf(parts, state, { file, host })
  const listsOf = startLists({ ...parts, place: state.place })
  const lists = listsOf({ items, ...readStoreTtl(file.store_ttl) })
  const userAuth = startUserAuth(parts, file)
  const project = await startProject(parts, file, watch && ((files) => watch.add(files)))
  const webhookRules = readWebhookRules(file, [file.env, hosted.environment])
  const open = {
    tenant,
    file,
    host,
    userAuth,
    project,
    ownApi,
    webhookRules,
    ...(await webhookSender(parts)),
  }
  const webhooks = openWebhooks(parts, state, { ...open, isFirst: true })
  const graphs = sharedGraphs(parts, { name, tenant, state, host })
  const deployment = {
    ...tenant,
    name,
    host,
    revision_id: null,
    concurrency: hosted.concurrency,
    webhooks,
    ...(graphs && { graphs: graphs.claimed }),
  }
  state.served.set(tenant.deployment_id, deployment)
  const working = await startWorking(parts, state)
  const useCases = openUseCases(parts, { state, working }, { deployment, open, hasGraph: graphs?.has })
  startSweeping(parts, state, { items, file })
  const headerRule = followFile(watch, { file, host, project, userAuth }, () =>
    assistants.ensure(tenant, systemAssistants(host.graphs())),
  )
  const checks = oneAtATime(state.checks)
  return {
    ...useCases,
    name,
    tenant,
    assistants,
    items,
    lists,
    host,
    userAuth,
    project,
    ownApi,
    events,
    http: file.http,
    headersFor: (headers) => pickConfigurableHeaders(headerRule(), headers),
    checks,
    shared: { state, working, listsOf, checks },
  }
}

/** Follows the graphs of the other servers, which may have different ones while servers are restarted one by one. */
function sharedGraphs(
  { servers, logger, stops }: DeploymentParts,
  { name, tenant, state, host }: { name: string; tenant: Tenant; state: RunState; host: GraphHosts },
): SharedGraphs | undefined {
  if (servers === undefined) return undefined
  const { store, clock } = state
  const own = (): string[] => host.graphs().map(({ graph_id }) => graph_id)
  return shareGraphs({ deployment: { ...tenant, name }, own, servers, store, clock, logger, stops })
}
