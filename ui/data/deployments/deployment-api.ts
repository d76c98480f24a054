import { createContext, use } from 'react'
import type { DeploymentApi } from '../../api/deployment.ts'

/** Holds the calls of deployments of the open workspace. */
export const DeploymentApiOfPage = createContext<DeploymentApi | undefined>(undefined)

/** The calls of deployments. */
export function useDeploymentApi(): DeploymentApi {
  const api = use(DeploymentApiOfPage)
  if (api === undefined) throw new Error('There is no DeploymentApiOfPage around this component.')
  return api
}
