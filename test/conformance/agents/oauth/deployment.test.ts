import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { beforeAll, expect, it } from 'vitest'
import { deploymentRoutes } from '../../../../src/http/deployment/routes.ts'
import { useDeployment } from '../../deployments/use-deployment.ts'
import { oauthClients } from './clients.ts'

const setup = useDeployment()
const { signIn, decide, provider, connect, allowed } = oauthClients(() => setup().weir)

beforeAll(async () => {
  // The setup checks that some response fits the document.
  expect((await setup().request('/info')).status).toBe(200)
})

/** Path of the deployment's tools at the server's address. */
function path(): string {
  return `${new URL(setup().url).pathname}/mcp`
}

async function status(at: string, token: string, method = 'ping', params: object = {}) {
  const response = await fetch(setup().weir.url + at, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return response.status
}

it('OAU-1: 401 of a deployment names its own metadata, with the scope of its tools', async () => {
  const { url } = setup().weir
  const refused = await fetch(url + path(), { method: 'POST', body: '{}' })
  const metadata = `${url}/.well-known/oauth-protected-resource${path()}`
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer resource_metadata="${metadata}", scope="agents"`,
  ])
  expect(await (await fetch(metadata)).json()).toEqual({
    resource: url + path(),
    authorization_servers: [url],
    scopes_supported: ['agents'],
    bearer_methods_supported: ['header'],
  })
  const unknown = await fetch(`${url}/.well-known/oauth-protected-resource/deployments/none/mcp`)
  expect(unknown.status).toBe(404)
})

it('OAU-1 to OAU-5: a client without a key signs in, and calls a graph', async () => {
  const mine = provider()
  const first = await connect(mine, path())
  await expect(first.connected).rejects.toBeInstanceOf(UnauthorizedError)
  const { at, html } = await decide(mine.asked as URL, await signIn(), 'allow')
  expect(html).toContain('call the assistants of the deployment')
  await first.transport.finishAuth(at.searchParams.get('code') ?? '')
  expect(mine.held?.scope).toBe('agents')
  const { client, connected } = await connect(mine, path())
  await connected
  const result = await client.callTool({ name: 'echo', arguments: { text: 'hi' } })
  expect(result.structuredContent).toMatchObject({ text: 'hi' })
  await client.close()
})

it('OAU-6: a token of one resource is unknown at the other, and on every other route', async () => {
  const agents = (await allowed(path())).held?.access_token ?? ''
  const reads = (await allowed('/mcp')).held?.access_token ?? ''
  expect(await status(path(), agents)).toBe(200)
  expect(await status('/mcp', agents)).toBe(401)
  expect(await status('/api/mcp', agents)).toBe(401)
  expect(await status('/mcp', reads)).toBe(200)
  expect(await status(path(), reads)).toBe(401)
  for (const { method, path: route, needs } of deploymentRoutes()) {
    if (needs === 'open' || route === '/mcp') continue
    const headers = { authorization: `Bearer ${agents}` }
    const at = route.replaceAll(/\{\w+\}/g, '11111111-1111-4111-8111-111111111111')
    const { status: refused } = await fetch(setup().url + at, { method, headers })
    expect([method, route, refused]).toEqual([method, route, 401])
  }
})

it('OAU-5: a token never does more than its member', async () => {
  const made = { description: 'looks', role: 'viewer' }
  const { key } = await setup().weir.json<{ key: string }>('/orgs/current/service-keys', made)
  const token = (await allowed(path(), await signIn(key))).held?.access_token ?? ''
  expect(await status(path(), token)).toBe(200)
  const call = { name: 'echo', arguments: { text: 'hi' } }
  expect(await status(path(), token, 'tools/call', call)).toBe(403)
})

it('OAU-4, OAU-6: refuses a resource that is no deployment, and a scope that the resource does not have', async () => {
  const mine = provider()
  await expect((await connect(mine, path())).connected).rejects.toBeInstanceOf(UnauthorizedError)
  const errorOf = async (changed: Record<string, string>) => {
    const address = new URL(mine.asked as URL)
    for (const [name, value] of Object.entries(changed)) address.searchParams.set(name, value)
    const response = await fetch(address, { redirect: 'manual' })
    return new URL(response.headers.get('location') ?? 'http://none/').searchParams.get('error')
  }
  expect(await errorOf({ resource: `${setup().weir.url}/deployments/none/mcp` })).toBe('invalid_target')
  expect(await errorOf({ resource: `${setup().weir.url}/deployments/%E0%A4%A/mcp` })).toBe('invalid_target')
  expect(await errorOf({ scope: 'read' })).toBe('invalid_scope')
})
