import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { signInTo } from '../../../src/cli/server/sign-in.ts'
import { LOGIN_MS } from '../../../src/identity/oauth.ts'
import { runCommand } from '../../support/run-command.ts'
import type { AppFixture } from '../../support/servers/app-fixture.ts'
import type { HttpBrowser } from '../../support/sign-in/http-browser.ts'
import { CLIENT, type OidcProvider, startOidcProvider } from '../../support/sign-in/oidc-provider.ts'
import { type SignInWorld, startSignInWorld } from './world.ts'
import { newFolder } from '../../support/folder.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

let world: SignInWorld
let provider: OidcProvider
let fixture: AppFixture
beforeEach(async () => {
  world = await startSignInWorld(async (callback) => {
    provider = await startOidcProvider([callback()])
    const client = { issuer_url: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret }
    return [{ ...client, default_role: 'viewer' as const }]
  })
  ;({ fixture } = world)
  provider.accounts.set('ada', { sub: 'ada', claims: { email: 'ada@acme.test', email_verified: true } })
})
afterEach(async () => {
  await fixture.stop()
  await provider.close()
})

/** Opens the page of the consent and presses a button; returns its text, and where the form leads. */
async function decide(
  browser: HttpBrowser,
  address: string,
  decision: string,
): Promise<{ html: string; location: string | null }> {
  const html = await (await browser.fetch(address)).text()
  const fields = [...html.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']): [string, string] => [
      name,
      value.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))),
    ],
  )
  const answer = await browser.fetch(`${world.url}/oauth/authorize`, {
    method: 'POST',
    headers: { origin: world.url, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams([...fields.filter(([name]) => name !== 'decision'), ['decision', decision]]),
  })
  return { html, location: answer.headers.get('location') }
}

/** A sign-in on the command line, for which the person presses a button in the browser. */
async function signIn(browser: HttpBrowser, decision = 'allow') {
  const pages: string[] = []
  const callbacks: string[] = []
  const signedIn = signInTo(world.url, (address) => {
    void decide(browser, address, decision).then(async ({ html, location }) => {
      pages.push(html)
      if (location === null) return
      callbacks.push(location)
      // Another program of the machine, which does not know the state, ends nothing.
      await fetch(location.replace(/state=[^&]+/, 'state=wrong')).catch(() => undefined)
      await fetch(location)
    })
  })
  return { ...(await signedIn), pages, callbacks }
}

describe('TEAM-8: weir login', () => {
  it('gets a personal token over the sign-in at the provider, for 90 days', async () => {
    const browser = world.browser()
    await world.signIn(browser)
    const { key, expires_in, pages, callbacks } = await signIn(browser)
    expect(pages[0]).toContain('weir login')
    expect(pages[0]).toContain('ada@acme.test')
    expect(key).toMatch(/^lsv2_pt_/)
    expect(expires_in).toBe(LOGIN_MS / 1000)
    const session = await fixture.request('/auth/session', { headers: { 'x-api-key': key } })
    expect(await session.json()).toMatchObject({
      role: 'viewer',
      read_only: false,
      user: { email: 'ada@acme.test' },
    })
    const [made] = await world.audit('key.create')
    expect(made).toMatchObject({ details: { description: 'weir login', workspace_ids: null } })
    // A code works once; its second use ends the token.
    const { searchParams } = new URL(callbacks[0]!)
    const again = await fetch(`${world.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: 'weir-cli',
        code: searchParams.get('code') ?? '',
        code_verifier: 'v'.repeat(43),
      }),
    })
    expect(again.status).toBe(400)
    const ended = await fixture.request('/auth/session', { headers: { 'x-api-key': key } })
    expect(ended.status).toBe(401)
  })

  it('gets none when the person denies it, and none that outlasts the key of the session', async () => {
    const browser = world.browser()
    await world.signIn(browser)
    await expect(signIn(browser, 'deny')).rejects.toThrow('denied (access_denied)')
    expect(await world.audit('key.create')).toEqual([])
    const expires_at = new Date(world.clock.now() + 3_600_000).toISOString()
    const [admin] = (await (await fixture.request('/orgs/current/members')).json()) as { user_id: string }[]
    const made = await fixture.postJson('/orgs/current/personal-access-tokens', {
      description: 'short',
      user_id: admin?.user_id,
      expires_at,
    })
    const { key } = (await made.json()) as { key: string }
    const other = world.browser()
    await other.fetch(`${world.url}/api/v1/auth/session`, jsonBody('POST', { key }))
    expect((await signIn(other)).expires_in).toBe(3600)
  })

  it('keeps the token for other commands', async () => {
    const home = await newFolder()
    const env = {
      ...process.env,
      XDG_CONFIG_HOME: home,
      WEIR_URL: world.url,
      WEIR_API_KEY: undefined,
      DATA_DIR: home,
    }
    expect(await runCommand(['workspaces', 'list'], { env })).toMatchObject({ code: 2 })
    const browser = world.browser()
    await world.signIn(browser)
    const running = runCommand(['login', '--no-browser'], { env })
    const shown = await printedLink()
    const { location } = await decide(browser, shown, 'allow')
    await fetch(location!)
    const end = await running
    expect([end.code, end.stdout]).toEqual([0, expect.stringContaining('as ada@acme.test until 2')])
    expect(end.stdout).not.toContain('lsv2_pt_')
    expect(await runCommand(['workspaces', 'list'], { env })).toMatchObject({ code: 0 })
  })

  it('says what is wrong with a server without a sign-in', async () => {
    await expect(signInTo(`${provider.issuer}/none`, () => undefined)).rejects.toThrow(/is not Weir|answered/)
  })
})

/** The link that the running command has printed. */
async function printedLink(): Promise<string> {
  const log = vi.mocked(console.log)
  for (;;) {
    const line = log.mock.calls.flat().find((one) => String(one).includes('/oauth/authorize'))
    if (line !== undefined) return String(line).split('\n')[1] ?? ''
    await new Promise((resolve) => setImmediate(resolve))
  }
}
