import { auth, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { describe, expect, it } from 'vitest'
import { platformRoutes } from '../../../../src/http/platform/routes.ts'
import { useWeir } from '../../../support/servers/use-weir.ts'
import { FORM, oauthClients } from './clients.ts'
import { jsonBody } from '../../../support/servers/weir-process.ts'

const weirOfFile = useWeir()
const server = () => weirOfFile.current()
const { signIn, decide, provider, connect, allowed, plainClient } = oauthClients(server)

async function listTools(token: string, path = '/mcp'): Promise<number> {
  const response = await fetch(server().url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  return response.status
}

describe('a client without a key', () => {
  it.each(['/mcp', '/api/mcp'])(
    'OAU-1 to OAU-5: signs in at %s with the official client, and calls a tool',
    async (path) => {
      const mine = await allowed(path)
      const { client, connected } = await connect(mine, path)
      await connected
      const result = await client.callTool({ name: 'list_projects', arguments: {} })
      expect(result.isError).not.toBe(true)
      await client.close()
      // The client refreshes by itself; here it is made to.
      const before = mine.held?.access_token
      await auth(mine, { serverUrl: `${server().url}${path}` })
      expect(mine.held?.access_token).not.toBe(before)
      expect(await listTools(mine.held?.access_token ?? '')).toBe(200)
    },
  )

  it('OAU-1, OAU-2: 401 names the metadata, which names the server', async () => {
    const { url } = server()
    const refused = await fetch(`${url}/mcp`, { method: 'POST', body: '{}' })
    const metadata = `${url}/.well-known/oauth-protected-resource/mcp`
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${metadata}", scope="read"`,
    )
    expect(await (await fetch(metadata)).json()).toEqual({
      resource: `${url}/mcp`,
      authorization_servers: [url],
      scopes_supported: ['read'],
      bearer_methods_supported: ['header'],
    })
    const alias = await fetch(`${url}/.well-known/oauth-protected-resource/api/mcp`)
    expect(await alias.json()).toMatchObject({ resource: `${url}/api/mcp` })
    expect(await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()).toMatchObject({
      issuer: url,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
    })
  })

  it('OAU-6: works without resource; a foreign one is refused', async () => {
    const { address, exchange, code } = await plainClient()
    const cookie = await signIn()
    const tokens = await exchange(await code(cookie))
    expect(await listTools(tokens.access_token)).toBe(200)
    const asked = await fetch(address({ resource: 'https://other.example/mcp' }), { redirect: 'manual' })
    expect(asked.headers.get('location')).toContain('error=invalid_target')
  })

  it('OAU-3: registers https and loopback addresses only, and returns to the registered one at any port', async () => {
    const register = async (uri: string) =>
      (await fetch(`${server().url}/oauth/register`, jsonBody('POST', { redirect_uris: [uri] }))).status
    for (const uri of ['http://evil.example/', 'javascript:alert(1)', 'https://a.example/#x', 'cursor://x'])
      expect([uri, await register(uri)]).toEqual([uri, 400])
    expect(await register('https://a.example/callback')).toBe(201)
    const { address } = await plainClient()
    const cookie = await signIn()
    const status = async (redirect_uri: string) =>
      (await fetch(address({ redirect_uri }), { headers: { cookie }, redirect: 'manual' })).status
    expect(await status('http://127.0.0.1:50000/callback')).toBe(200)
    expect(await status('http://127.0.0.1:50000/other')).toBe(400)
    expect(await status('https://evil.example/callback')).toBe(400)
  })
})

describe('the consent', () => {
  it('OAU-4: names client, address and workspace, cannot be framed, and answers with state and iss', async () => {
    const { address } = await plainClient()
    const { html, page, at } = await decide(address(), await signIn(), 'allow')
    expect(html).toContain('plain')
    expect(html).toContain('127.0.0.1:33418/callback')
    expect(html).toContain('<option')
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect([at.searchParams.get('state'), at.searchParams.get('iss')]).toEqual(['s', server().url])
    const denied = await decide(address(), await signIn(), 'deny')
    expect(denied.at.searchParams.get('error')).toBe('access_denied')
    expect(denied.at.searchParams.get('code')).toBeNull()
  })

  it('OAU-4: shows names of clients as text', async () => {
    const mine = provider()
    await expect((await connect(mine)).connected).rejects.toBeInstanceOf(UnauthorizedError)
    const { html } = await decide(mine.asked as URL, await signIn(), 'deny')
    expect(html).not.toContain('<agent>')
  })

  it('OAU-4: cannot be skipped or forged: no session, another site, a key instead of a session', async () => {
    const { address } = await plainClient()
    const body = address().searchParams
    body.set('decision', 'allow')
    const post = async (headers: Record<string, string>) =>
      (
        await fetch(`${server().url}/oauth/authorize`, {
          method: 'POST',
          redirect: 'manual',
          headers: { ...FORM, ...headers },
          body: new URLSearchParams(body),
        })
      ).status
    const cookie = await signIn()
    expect(await post({})).toBe(401)
    expect(await post({ cookie, origin: 'https://evil.example' })).toBe(403)
    expect(await post({ cookie, 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await post({ 'x-api-key': server().key })).toBe(403)
    const unsigned = await fetch(address())
    expect(await unsigned.text()).not.toContain('name="decision"')
  })

  it('OAU-4: refuses a workspace that the member may not use', async () => {
    const { address } = await plainClient()
    const { response } = await decide(address(), await signIn(), 'allow', { workspace: crypto.randomUUID() })
    expect(response.status).toBe(403)
  })
})

describe('tokens', () => {
  it('OAU-5, OAU-6: read over MCP only, whatever the role', async () => {
    const { exchange, code } = await plainClient()
    const { access_token, refresh_token } = await exchange(await code(await signIn()))
    for (const { method, path, needs } of platformRoutes()) {
      if (needs === 'open' || path === '/mcp') continue
      const headers = { authorization: `Bearer ${access_token}` }
      const sent = path.replaceAll(/\{\w+\}/g, '11111111-1111-4111-8111-111111111111')
      const { status } = await fetch(server().url + sent, { method, headers })
      expect([method, path, status]).toEqual([method, path, 401])
    }
    expect(await listTools(access_token, '/api/mcp')).toBe(200)
    expect(await listTools(refresh_token)).toBe(401)
  })

  it('OAU-5: a code is exchanged once, by its client, with its verifier', async () => {
    const { exchange, code } = await plainClient()
    const other = await plainClient()
    const cookie = await signIn()
    expect(await exchange(await code(cookie), { code_verifier: 'w'.repeat(43) })).toMatchObject({
      error: 'invalid_grant',
    })
    expect(await other.exchange(await code(cookie))).toMatchObject({ error: 'invalid_grant' })
    const once = await code(cookie)
    const tokens = await exchange(once)
    expect(await exchange(once)).toMatchObject({ error: 'invalid_grant' })
    expect(await listTools(tokens.access_token)).toBe(401)
  })

  it('OAU-5: a refresh token is replaced; its second use ends the family', async () => {
    const { token, exchange, code } = await plainClient()
    const first = await exchange(await code(await signIn()))
    const refresh = async (refresh_token: string) =>
      await token({ grant_type: 'refresh_token', refresh_token })
    const second = await refresh(first.refresh_token)
    expect(await listTools(second.access_token)).toBe(200)
    expect(await refresh(first.refresh_token)).toMatchObject({ error: 'invalid_grant' })
    expect(await listTools(second.access_token)).toBe(401)
    expect(await refresh(second.refresh_token)).toMatchObject({ error: 'invalid_grant' })
  })

  it('OAU-4: a read-only key makes no other key, and so gives no consent', async () => {
    const made = { description: 'reads', read_only: true }
    const { key } = await server().json<{ key: string }>('/orgs/current/service-keys', made)
    const { address } = await plainClient()
    const { page, html, response } = await decide(address(), await signIn(key), 'allow')
    expect([page.status, html]).toEqual([400, expect.stringContaining('read-only key')])
    expect(response.status).toBe(403)
  })

  it('OAU-5: end with the service key whose session gave the consent', async () => {
    const weir = server()
    const made = { description: 'for a browser', role: 'viewer' }
    const { id, key } = await weir.json<{ id: string; key: string }>('/orgs/current/service-keys', made)
    const client = await plainClient()
    const cookie = await signIn(key)
    const tokens = await client.exchange(await client.code(cookie))
    const late = await client.code(cookie)
    expect(await listTools(tokens.access_token)).toBe(200)
    await weir.request(`/orgs/current/service-keys/${id}`, { method: 'DELETE' })
    expect(await listTools(tokens.access_token)).toBe(401)
    const again = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect(await client.token(again)).toMatchObject({ error: 'invalid_grant' })
    expect(await client.exchange(late)).toMatchObject({ error: 'invalid_grant' })
  })

  it('OAU-5: errors of the token endpoint tell a client that is not known to register again', async () => {
    const { token } = await plainClient()
    const grant = { grant_type: 'refresh_token', refresh_token: 'weir_rt_none' }
    expect(await token({ ...grant, client_id: crypto.randomUUID() })).toMatchObject({
      error: 'invalid_client',
    })
    expect(await token(grant)).toMatchObject({ error: 'invalid_grant' })
    expect(await token({})).toMatchObject({ error: 'invalid_request' })
    const body = new URLSearchParams({ token_type_hint: 'access_token' })
    const revoked = await fetch(`${server().url}/oauth/revoke`, { method: 'POST', headers: FORM, body })
    expect([revoked.status, await revoked.json()]).toMatchObject([400, { error: 'invalid_request' }])
  })

  it('OAU-5: are listed as a key, and end with it, or when the client revokes them', async () => {
    const weir = server()
    const client = await plainClient()
    const cookie = await signIn()
    const tokens = await client.exchange(await client.code(cookie))
    type Key = { id: string; description: string; read_only: boolean }
    // The key of this server is that of a service or of a member; the key of the consent is of the same kind.
    const paths = ['/orgs/current/personal-access-tokens', '/orgs/current/service-keys']
    const lists = await Promise.all(
      paths.map(async (path) => (await weir.json<Key[]>(path)).map((key) => ({ ...key, path }))),
    )
    const key = lists.flat().find(({ description }) => description === 'plain (OAuth)')
    expect(key).toMatchObject({ read_only: true })
    await weir.request(`${key?.path}/${key?.id}`, { method: 'DELETE' })
    expect(await listTools(tokens.access_token)).toBe(401)
    const again = await client.exchange(await client.code(cookie))
    const body = new URLSearchParams({ token: again.refresh_token })
    expect((await fetch(`${weir.url}/oauth/revoke`, { method: 'POST', headers: FORM, body })).status).toBe(
      200,
    )
    expect(await listTools(again.access_token)).toBe(401)
  })
})
