import { rm } from 'node:fs/promises'
import { makeSocketFolder, socketPath } from '../../graph/project/socket-folder.ts'
import type { GraphHosts } from '../../graph/pool/pool.ts'
import { ensureAssistants, type OpenDeployment, startUserAuth, webhookSender } from './serving.ts'
import type { DeploymentParts, RunState } from '../run-state/run-state.ts'
import { brokeredStorage } from './brokered-storage.ts'
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
  // The store needs hosts for its embeddings, and these hosts need the store.
  const { promise: hosts, resolve: opened } = Promise.withResolvers<GraphHosts>()
  const brokered = brokeredStorage(parts, { tenant, file, hosts })
  const ownApi = await ownApiSocket(parts)
  const { host, watch } = await startGraphHosts(parts, {
    ...graphs,
    storage: storage ?? brokered,
    brokered,
    ownApi,
  })
  opened(host)
  const userAuth = startUserAuth(parts, file)
  const project = await startProject(parts, file, watch && ((files) => watch.add(files)))
  const headerRule = followFile(watch, { file, host, project, userAuth }, () =>
    ensureAssistants(state, { name, tenant, host }),
  )
  return {
    tenant,
    file,
    host,
    userAuth,
    project,
    ownApi,
    webhookRules,
    headerRule,
    ...(await webhookSender(parts)),
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
