import type { IncomingMessage } from 'node:http'
import type { Unserved } from '../../deploy/hosting.ts'
import type { DeploymentApp } from './app.ts'
import { withoutPrefix } from '../server/exchange.ts'

/** Deployments that are served under `/deployments/{name}`. */
export interface DeploymentMounts {
  /**
   * The API of a deployment, or the reason why it is currently not served; undefined if there is no deployment of this
   * name.
   */
  find(name: string): DeploymentApp | Unserved | undefined
}

export interface ServedDeployments {
  /** The deployment of GRAPHS. */
  deployment?: DeploymentApp
  mounts?: DeploymentMounts
}

export function isServed(found: DeploymentApp | Unserved): found is DeploymentApp {
  return !('refusal' in found)
}

/**
 * The deployment that a request's URL names, with the prefix of the deployment's own paths: `/deployments/{name}`, with
 * or without `/api/v1` before it.
 */
function mountOf(
  { find }: DeploymentMounts,
  url = '',
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

/**
 * The prefix of the deployment's own paths in a request's URL: `/deployments/{name}`, with or without `/api/v1` before
 * it.
 */
function mountPrefix(name: string, url = ''): string | undefined {
  const mount = `/deployments/${encodeURIComponent(name)}`
  const prefix = url.slice(0, url.length - withoutPrefix(url).length) + mount
  if (!url.startsWith(prefix)) return undefined
  const next = url[prefix.length]
  return next === undefined || next === '/' || next === '?' ? prefix : undefined
}

/** The workspace of a served deployment that accepts tokens of OAuth. */
export function consentsIn({ deployment, mounts }: ServedDeployments, name: string): string | undefined {
  const found = deployment?.name === name ? deployment : mounts?.find(name)
  return found !== undefined && isServed(found) ? found.consents_in : undefined
}

/** The deployment whose API the request is for, and the prefix of its paths. */
export function deploymentOf(
  { deployment, mounts }: ServedDeployments,
  { url }: IncomingMessage,
): ReturnType<typeof mountOf> {
  const prefix = deployment && mountPrefix(deployment.name, url)
  if (deployment !== undefined && prefix !== undefined) return { found: deployment, prefix }
  return mounts && mountOf(mounts, url)
}
