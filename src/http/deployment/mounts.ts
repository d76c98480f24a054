import type { IncomingMessage } from 'node:http'
import type { Unserved } from '../../deploy/hosting.ts'
import type { DeploymentApp } from './app.ts'
import { withoutPrefix } from '../server/exchange.ts'

/** Deployments that are served under `/deployments/{name}`. */
export interface DeploymentMounts {
  /** The deployment of GRAPHS, which `DEPLOYMENT_PORT` serves also at the root. */
  root?: DeploymentApp | undefined
  /**
   * The API of a deployment, or the reason why it is currently not served; undefined if there is no deployment of this
   * name.
   */
  find(name: string): DeploymentApp | Unserved | undefined
}

export function isServed(found: DeploymentApp | Unserved): found is DeploymentApp {
  return !('refusal' in found)
}

/**
 * The deployment that a request's URL names, with the prefix of the deployment's own paths: `/deployments/{name}`, with
 * or without `/api/v1` before it.
 */
export function deploymentOf(
  { find }: Pick<DeploymentMounts, 'find'>,
  { url = '' }: IncomingMessage,
): { found: DeploymentApp | Unserved; prefix: string } | undefined {
  const path = withoutPrefix(url)
  const [mount, name] = /^\/deployments\/([^/?]+)(?=[/?]|$)/.exec(path) ?? []
  const found = name === undefined ? undefined : find(decoded(name))
  if (mount === undefined || found === undefined) return undefined
  return { found, prefix: url.slice(0, url.length - path.length) + mount }
}

/** The decoded name; if its percent-encoding is broken, an empty text, which no deployment has as its name. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return ''
  }
}

/** The workspace of a served deployment that accepts tokens of OAuth. */
export function consentsIn({ find }: Pick<DeploymentMounts, 'find'>, name: string): string | undefined {
  const found = find(name)
  return found !== undefined && isServed(found) ? found.consents_in : undefined
}
