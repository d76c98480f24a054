import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fixedPort } from '../../support/fixed-port.ts'
import type { HttpBrowser } from '../../support/sign-in/http-browser.ts'
import { type SignInWorld, startSignInWorld } from './world.ts'

const PROVIDER = fileURLToPath(new URL('../../../examples/sign-in/provider.mjs', import.meta.url))

let world: SignInWorld
let child: ReturnType<typeof spawn> | undefined
beforeAll(async () => {
  world = await startSignInWorld(async (callback) => {
    const port = String(await fixedPort())
    const provider = spawn(process.execPath, [PROVIDER], {
      env: { PATH: process.env['PATH'], PORT: port, WEIR_URL: new URL(callback()).origin },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    child = provider
    await once(createInterface({ input: provider.stdout }), 'line')
    return [
      {
        issuer_url: `http://localhost:${port}`,
        client_id: 'weir',
        client_secret: 'only-to-try-it-out',
        group_roles: 'platform=admin,ml-team=user',
      },
    ]
  })
})
afterAll(async () => {
  await world?.fixture.stop()
  if (child === undefined) return
  child.kill()
  await once(child, 'exit')
})

/** Fills in the pages of the provider: the name, then the consent. Returns where the browser ends. */
async function signIn(browser: HttpBrowser, login: string): Promise<string> {
  let at = `${world.url}/api/v1/oauth/custom-oidc/login`
  for (const fields of [{ prompt: 'login', login, password: 'any' }, { prompt: 'consent' }]) {
    const { url } = await browser.follow(at)
    expect(url.pathname).toMatch(/^\/interaction\//)
    const answer = await browser.fetch(url.href, { method: 'POST', body: new URLSearchParams(fields) })
    at = new URL(answer.headers.get('location') ?? '', url).href
  }
  const { url } = await browser.follow(at, ({ pathname }) => pathname.startsWith('/app/'))
  return `${url.pathname}${url.search}`
}

it('TEAM-1: people of examples/sign-in sign in with the rights of their groups', async () => {
  for (const [login, role] of [
    ['ada', 'admin'],
    ['bob', 'user'],
  ] as const) {
    const browser = world.browser()
    expect(await signIn(browser, login)).toBe('/app/')
    expect(await world.session(browser)).toMatchObject({
      body: { role, user: { email: `${login}@acme.test` } },
    })
  }
  expect(await signIn(world.browser(), 'eve')).toBe('/app/sign-in?error=no_role')
  await world.fixture.postJson('/orgs/current/members', { email: 'eve@acme.test', role: 'viewer' })
  const browser = world.browser()
  expect([await signIn(browser, 'eve'), (await world.session(browser)).body['role']]).toEqual([
    '/app/',
    'viewer',
  ])
})
