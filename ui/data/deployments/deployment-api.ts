import { createContext, use } from 'react'
import type { DeploymentApi } from '../../api/deployment.ts'

/** Calls the APIs of the open workspace's deployments. */
export const DeploymentApiOfPage = createContext<DeploymentApi | undefined>(undefined)

/** The DeploymentApi of the page. @throws Error outside of DeploymentApiOfPage */
export function useDeploymentApi(): DeploymentApi {
  const api = use(DeploymentApiOfPage)
  if (api === undefined) throw new Error('There is no DeploymentApiOfPage around this component.')
  return api
}
