import { rm } from 'node:fs/promises'
import { makeSocketFolder, socketPath } from '../../graph/project/socket-folder.ts'
import type { GrantStorage } from '../../graph/pool/launch.ts'
import type { GraphHosts } from '../../graph/pool/pool.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { createStorageOperations } from '../../storage/sql/broker/operations.ts'
import { createGraphStoreBatch } from '../../storage/sql/items/graph-store-batch.ts'
import { ensureAssistants, itemsOf, type OpenDeployment, startUserAuth, webhookSender } from './serving.ts'
import type { DeploymentParts, RunState } from '../run-state/run-state.ts'
import { type HostedGraphs, startGraphHosts } from './graph-hosts.ts'
import { followFile, type ProcessParts, startProject } from './project.ts'

/** Starts hosts, which load the graphs in the background, the auth file, the HTTP app and UI components. */
export async function startProcesses(
  parts: ProcessParts & Pick<DeploymentParts, 'config'> & { state: RunState },
  {
    tenant,
    webhookRules,
    storage,
    ...graphs
  }: Pick<OpenDeployment, 'tenant' | 'webhookRules'> &
    Omit<HostedGraphs, 'storage' | 'brokered' | 'ownApi'> & {
      /** Options with which hosts of TypeScript graphs open the run database; default: they use the broker. */
      storage?: HostedGraphs['storage']
    },
): Promise<OpenDeployment> {
  const { state } = parts
  const { file, name } = graphs
  // The long-term memory needs hosts for its embeddings, and these hosts need the memory.
  const { promise: hosts, resolve: opened } = Promise.withResolvers<GraphHosts>()
  const items = itemsOf(parts, state, { file, host: { embed: async (texts) => (await hosts).embed(texts) } })
  const brokered = brokeredStorage(state, { tenant, items })
  const ownApi = await ownApiSocket(parts)
  const started = { ...graphs, storage: storage ?? brokered, brokered, ownApi }
  const { host, watch } = await startGraphHosts(parts, started)
  opened(host)
  const userAuth = startUserAuth(parts, file)
  const project = await startProject(parts, file, watch && ((files) => watch.add(files)))
  const headerRule = followFile(watch, { file, host, project, userAuth }, () =>
    ensureAssistants(state, { name, tenant, host }),
  )
  const open = { tenant, name, file, host, items, userAuth, project, ownApi, webhookRules, headerRule }
  return { ...open, ...(await webhookSender(parts)) }
}

/** Maximum bytes of the items that one search of a graph finds. */
const MAX_FOUND_BYTES = 64 << 20

/** Gives each host access to the rows of its deployment through the broker (P-25). */
function brokeredStorage(
  { broker, checkpointRows }: RunState,
  { tenant, items }: Pick<OpenDeployment, 'tenant' | 'items'>,
): GrantStorage {
  const batch = createGraphStoreBatch(items, tenant, MAX_FOUND_BYTES, parseExact)
  const operations = createStorageOperations(checkpointRows, batch, tenant)
  return () => {
    const { place, revoke } = broker.grant(operations)
    return { storage: { broker: { ...place } }, revoke }
  }
}

/**
 * Path of a socket at which the graphs of a deployment call its API (`get_client()` of `langgraph_sdk`). Its folder is
 * removed when the deployment stops.
 */
async function ownApiSocket({ stops }: Pick<ProcessParts, 'stops'>): Promise<string> {
  const folder = await makeSocketFolder('api')
  stops.defer(() => rm(folder, { recursive: true, force: true }))
  return socketPath(folder, 'own')
}
