import { createHash } from 'node:crypto'
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { expect } from 'vitest'
import type { UsedWeir } from '../../../support/servers/use-weir.ts'
import { jsonBody } from '../../../support/servers/weir-process.ts'

export const CALLBACK = 'http://127.0.0.1:33418/callback'
export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** Clients of OAuth for a server, and the browser in which a member allows them. */
export function oauthClients(server: () => Pick<UsedWeir, 'url' | 'key'>) {
  /** Signs a browser in with a key; returns its cookie. */
  async function signIn(key = server().key): Promise<string> {
    const response = await fetch(`${server().url}/auth/session`, jsonBody('POST', { key }))
    return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  }

  /** Sends the form of the consent page, as a browser does; returns the answer at the client's address. */
  async function decide(
    address: URL,
    cookie: string,
    decision: string,
    changed: Record<string, string> = {},
  ) {
    const page = await fetch(address, { headers: { cookie } })
    const html = await page.text()
    const fields = [...html.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))),
    ])
    const sent = { ...(Object.fromEntries(fields) as Record<string, string>), decision, ...changed }
    const response = await fetch(`${server().url}/oauth/authorize`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...FORM, cookie, origin: server().url, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(sent),
    })
    return { html, page, response, at: new URL(response.headers.get('location') ?? 'http://none/') }
  }

  /** A client of MCP that has no key; `asked` is the page to which it sends its user. */
  function provider(): OAuthClientProvider & { asked: URL | undefined; held: OAuthTokens | undefined } {
    let information: OAuthClientInformationMixed | undefined
    let verifier = ''
    return {
      asked: undefined,
      held: undefined,
      redirectUrl: CALLBACK,
      clientMetadata: { redirect_uris: [CALLBACK], client_name: 'Coding <agent>' },
      state: () => 'the state',
      clientInformation: () => information,
      saveClientInformation: (saved) => void (information = saved),
      tokens() {
        return this.held
      },
      saveTokens(tokens) {
        this.held = tokens
      },
      redirectToAuthorization(url) {
        this.asked = url
      },
      saveCodeVerifier: (text) => void (verifier = text),
      codeVerifier: () => verifier,
    }
  }

  async function connect(authProvider: OAuthClientProvider, path = '/mcp') {
    const transport = new StreamableHTTPClientTransport(new URL(server().url + path), { authProvider })
    const client = new Client({ name: 'test', version: '1' })
    return { client, transport, connected: client.connect(transport) }
  }

  /** A client that a member has allowed. */
  async function allowed(path = '/mcp', cookie?: string) {
    const mine = provider()
    const first = await connect(mine, path)
    await expect(first.connected).rejects.toBeInstanceOf(UnauthorizedError)
    const { at } = await decide(mine.asked as URL, cookie ?? (await signIn()), 'allow')
    await first.transport.finishAuth(at.searchParams.get('code') ?? '')
    return mine
  }

  /** A client that sends no `resource`, as most do today; `code` asks for a code and returns it. */
  async function plainClient() {
    const registered = await fetch(
      `${server().url}/oauth/register`,
      jsonBody('POST', { redirect_uris: [CALLBACK], client_name: 'plain' }),
    )
    const { client_id } = (await registered.json()) as { client_id: string }
    const verifier = 'v'.repeat(43)
    const query = (changed: Record<string, string> = {}) =>
      new URLSearchParams({
        response_type: 'code',
        client_id,
        redirect_uri: CALLBACK,
        state: 's',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...changed,
      })
    const address = (changed?: Record<string, string>) =>
      new URL(`${server().url}/oauth/authorize?${query(changed).toString()}`)
    const token = async (fields: Record<string, string>) => {
      const body = new URLSearchParams({ client_id, ...fields })
      const response = await fetch(`${server().url}/oauth/token`, { method: 'POST', headers: FORM, body })
      return (await response.json()) as { access_token: string; refresh_token: string; error?: string }
    }
    const exchange = async (code: string, changed: Record<string, string> = {}) =>
      await token({
        grant_type: 'authorization_code',
        code,
        redirect_uri: CALLBACK,
        code_verifier: verifier,
        ...changed,
      })
    const code = async (cookie: string) =>
      (await decide(address(), cookie, 'allow')).at.searchParams.get('code') ?? ''
    return { client_id, address, token, exchange, code }
  }

  return { signIn, decide, provider, connect, allowed, plainClient }
}
