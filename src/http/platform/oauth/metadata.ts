import type { IncomingMessage } from 'node:http'
import { READ_SCOPE } from '../../../identity/oauth.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { AppDeps } from '../app-deps.ts'
import { ownAddress } from '../request/own-address.ts'

/** The resource for which tokens are made. It has two addresses, and a token is good for both. */
export const MCP_RESOURCE = '/mcp'
const ALIAS = '/api/mcp'

type Place = Pick<AppDeps, 'publicUrl'>
type Asked = Pick<IncomingMessage, 'headers' | 'url'>

/** What a client without a valid token is told (rule OAU-1). */
export function challenge(deps: Place, { req, whole_path }: { req: Asked; whole_path: string }): string {
  const path = whole_path.startsWith('/api/') ? ALIAS : MCP_RESOURCE
  const metadata = `${ownAddress(deps, req)}/.well-known/oauth-protected-resource${path}`
  return `Bearer resource_metadata="${metadata}", scope="${READ_SCOPE}"`
}

/** Metadata of the resource at one of its addresses (RFC 9728). Clients compare `resource` with their address. */
export function resourceMetadata(deps: Place, req: Asked): JsonObject {
  const base = ownAddress(deps, req)
  const path = req.url?.replace(/\?.*$/s, '').endsWith(ALIAS) === true ? ALIAS : MCP_RESOURCE
  return {
    resource: `${base}${path}`,
    authorization_servers: [base],
    scopes_supported: [READ_SCOPE],
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
    scopes_supported: [READ_SCOPE],
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  }
}

/**
 * The resource that a request names; that of MCP if it names none, as most clients (rule OAU-6). Undefined for a
 * resource of another server.
 */
export function resourceOf(deps: Place, req: Asked, named: string | null): string | undefined {
  const base = ownAddress(deps, req)
  const known = ['', MCP_RESOURCE, ALIAS].map((path) => base + path)
  return named === null || known.includes(named.replace(/\/+$/, '')) ? MCP_RESOURCE : undefined
}
