import type { IncomingMessage } from 'node:http'
import { MCP_RESOURCE, type Scope, scopeOf } from '../../../identity/oauth.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { AppDeps } from '../app-deps.ts'
import { deploymentResource, MCP_ALIAS } from '../../server/callers/oauth-challenge.ts'
import { ownAddress } from '../../server/browser/own-address.ts'

type Place = Pick<AppDeps, 'publicUrl'>
type Asked = Pick<IncomingMessage, 'headers' | 'url'>

/** A resource for which tokens are made. */
export interface Resource {
  path: string
  scope: Scope
  /** Of a deployment: its name, and its workspace. */
  deployment?: { name: string; workspace_id: string }
}

/** Metadata of a resource at its address (RFC 9728). Clients compare `resource` with the address that they have. */
export function resourceMetadata(deps: Place, req: Asked, deployment?: string): JsonObject {
  const base = ownAddress(deps, req)
  const isAlias = req.url?.replace(/\?.*$/s, '').endsWith(MCP_ALIAS) === true
  const path = deployment === undefined ? MCP_RESOURCE : deploymentResource(deployment)
  return {
    resource: `${base}${isAlias && deployment === undefined ? MCP_ALIAS : path}`,
    authorization_servers: [base],
    scopes_supported: [scopeOf(path)],
    bearer_methods_supported: ['header'],
  }
}

/** Metadata of the authorization server (RFC 8414). */
export function serverMetadata(deps: Place, req: Asked): JsonObject {
  const base = ownAddress(deps, req)
  return {
    issuer: base,
    authorization_endpoint: `${base}/oauth/authorize`,
    token_endpoint: `${base}/oauth/token`,
    registration_endpoint: `${base}/oauth/register`,
    revocation_endpoint: `${base}/oauth/revoke`,
    scopes_supported: ['read', 'agents'] satisfies Scope[],
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  }
}

const DEPLOYMENT = /^\/deployments\/([^/]+)\/mcp$/

/**
 * The resource that a request names; that of MCP if it names none, as most clients (rule OAU-6). Undefined for a
 * resource of another server, and of a deployment that accepts no tokens.
 */
export function resourceOf(
  deps: Pick<AppDeps, 'publicUrl' | 'consentsIn'>,
  req: Asked,
  named: string | null,
): Resource | undefined {
  const base = ownAddress(deps, req)
  const reading = { path: MCP_RESOURCE, scope: 'read' } as const
  const address = named?.replace(/\/+$/, '') ?? base
  if ([base, base + MCP_RESOURCE, base + MCP_ALIAS].includes(address)) return reading
  const [, encoded] = (address.startsWith(base) && DEPLOYMENT.exec(address.slice(base.length))) || []
  const name = encoded === undefined ? undefined : decoded(encoded)
  const workspace_id = name === undefined ? undefined : deps.consentsIn?.(name)
  if (name === undefined || workspace_id === undefined) return undefined
  return { path: deploymentResource(name), scope: 'agents', deployment: { name, workspace_id } }
}

/** Undefined for broken percent-encoding. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
