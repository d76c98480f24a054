import { rm } from 'node:fs/promises'
import { makeSocketFolder, socketPath } from '../../graph/project/socket-folder.ts'
import type { DeploymentParts } from '../run-state/run-state.ts'

/**
 * Path of a socket at which the graphs of a deployment call its API (`get_client()` of `langgraph_sdk`). Its folder is
 * removed when the deployment stops.
 */
export async function ownApiSocket({ stops }: Pick<DeploymentParts, 'stops'>): Promise<string> {
  const folder = await makeSocketFolder('api')
  stops.defer(() => rm(folder, { recursive: true, force: true }))
  return socketPath(folder, 'own')
}
