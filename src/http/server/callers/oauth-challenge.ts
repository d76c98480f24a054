import type { IncomingMessage } from 'node:http'
import { MCP_RESOURCE, scopeOf } from '../../../identity/oauth.ts'
import { type OwnAddresses, ownAddress } from '../browser/own-address.ts'

/** The resource for reading has two addresses, and a token is good for both. */
export const MCP_ALIAS = '/api/mcp'

type Place = Pick<OwnAddresses, 'publicUrl'>
type Asked = Pick<IncomingMessage, 'headers'>

/** The resource of a deployment: its MCP address. */
export function deploymentResource(name: string): string {
  return `/deployments/${encodeURIComponent(name)}/mcp`
}

function challengeFor(deps: Place, req: Asked, path: string): string {
  const metadata = `${ownAddress(deps, req)}/.well-known/oauth-protected-resource${path}`
  return `Bearer resource_metadata="${metadata}", scope="${scopeOf(path === MCP_ALIAS ? MCP_RESOURCE : path)}"`
}

/** What a client without a valid token is told (rule OAU-1). */
export function challenge(deps: Place, { req, whole_path }: { req: Asked; whole_path: string }): string {
  return challengeFor(deps, req, whole_path.startsWith('/api/') ? MCP_ALIAS : MCP_RESOURCE)
}

/** As `challenge`, of the deployment with this name. */
export function deploymentChallenge(deps: Place, req: Asked, name: string): string {
  return challengeFor(deps, req, deploymentResource(name))
}
