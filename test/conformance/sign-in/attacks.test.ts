import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  FOREIGN_KEY,
  type ForgingProvider,
  startForgingProvider,
  token,
} from '../../support/sign-in/forging-provider.ts'
import type { HttpBrowser } from '../../support/sign-in/http-browser.ts'
import { type SignInWorld, startSignInWorld } from './world.ts'

let world: SignInWorld
let provider: ForgingProvider
let second: ForgingProvider
beforeEach(async () => {
  provider = await startForgingProvider()
  second = await startForgingProvider({ authorization_response_iss_parameter_supported: true })
  world = await startSignInWorld(async () => [
    { issuer_url: provider.issuer, client_id: 'weir', client_secret: 's', default_role: 'user' },
    { id: 'second', issuer_url: second.issuer, client_id: 'weir', default_role: 'user' },
  ])
})
afterEach(async () => {
  await world.fixture.stop()
  await provider.close()
  await second.close()
})

/** Begins a sign-in, as far as the provider; returns the parameters that the provider gets. */
async function begin(browser: HttpBrowser, id = 'custom-oidc', query = ''): Promise<URLSearchParams> {
  const answer = await browser.fetch(`${world.url}/api/v1/oauth/${id}/login${query}`)
  expect(answer.status).toBe(302)
  const { searchParams } = new URL(answer.headers.get('location') ?? '')
  const of = id === 'second' ? second : provider
  of.nonce = searchParams.get('nonce') ?? ''
  return searchParams
}

/** Comes back from the provider; returns where the browser is sent. */
async function comeBack(
  browser: HttpBrowser,
  parameters: Record<string, string>,
  id?: string,
): Promise<string> {
  const answer = await browser.fetch(`${world.callback(id)}?${new URLSearchParams(parameters).toString()}`)
  return answer.headers.get('location') ?? `status ${answer.status}`
}

const state = (sent: URLSearchParams): string => sent.get('state') ?? ''
const isSignedIn = async (browser: HttpBrowser): Promise<boolean> =>
  (await world.session(browser)).status === 200
const refused = (reason: string): string => `/app/sign-in?error=${reason}`

describe('TEAM-3: an answer that is not the one to the attempt of this browser', () => {
  it('is refused without the cookie, with another state, and the second time', async () => {
    const [victim, attacker] = [world.browser(), world.browser()]
    const own = await begin(attacker)
    // The attacker gives its own answer to the victim, so that the victim works in the attacker's account.
    expect(await comeBack(victim, { code: 'c', state: state(own) })).toBe(refused('attempt_expired'))
    const victims = await begin(victim)
    expect(await comeBack(victim, { code: 'c', state: state(own) })).toBe(refused('attempt_expired'))
    provider.nonce = victims.get('nonce') ?? ''
    expect(await comeBack(victim, { code: 'c', state: state(victims) })).toBe('/app/')
    expect(provider.redeemed?.get('code_verifier')).toMatch(/^[\w-]{43}$/)
    expect(await comeBack(victim, { code: 'c', state: state(victims) })).toBe(refused('attempt_expired'))
    expect(await isSignedIn(victim)).toBe(true)
  })

  it('is refused with a code of another sign-in, whose token has another nonce', async () => {
    const browser = world.browser()
    const sent = await begin(browser)
    provider.nonce = 'the nonce of the attacker'
    expect(await comeBack(browser, { code: 'injected', state: state(sent) })).toBe(refused('provider_failed'))
    expect(await isSignedIn(browser)).toBe(false)
  })

  it('is refused at the callback of another provider, and from another issuer', async () => {
    const browser = world.browser()
    const sent = await begin(browser)
    expect(await comeBack(browser, { code: 'c', state: state(sent) }, 'second')).toBe(
      refused('attempt_expired'),
    )
    const next = await begin(browser)
    const mixed = { code: 'c', state: state(next), iss: second.issuer }
    expect(await comeBack(browser, mixed)).toBe(refused('provider_failed'))
    const announced = await begin(browser, 'second')
    const silent = { code: 'c', state: state(announced) }
    expect(await comeBack(browser, silent, 'second')).toBe(refused('provider_failed'))
    const again = await begin(browser, 'second')
    const told = { code: 'c', state: state(again), iss: second.issuer }
    expect(await comeBack(browser, told, 'second')).toBe('/app/')
  })

  it('is refused after ten minutes', async () => {
    const browser = world.browser()
    const sent = await begin(browser)
    world.clock.time += 600_000
    expect(await comeBack(browser, { code: 'c', state: state(sent) })).toBe(refused('attempt_expired'))
  })

  it('is refused with an error of the provider, without its text on the page', async () => {
    const browser = world.browser()
    const sent = await begin(browser)
    const error = { error: 'access_denied', error_description: 'call 555-0199', state: state(sent) }
    expect(await comeBack(browser, error)).toBe(refused('provider_failed'))
  })
})

describe('TEAM-3: an id token is refused', () => {
  const cases: [name: string, forge: ForgingProvider['forge']][] = [
    ['without a signature', (honest) => token(honest).replace(/[^.]*$/, '')],
    ['with the algorithm none', (honest) => token(honest, { header: { alg: 'none' } })],
    ['with a signature by the secret of the client', (honest) => token(honest, { header: { alg: 'HS256' } })],
    ['signed with the key of another provider', (honest) => token(honest, { key: FOREIGN_KEY })],
    [
      'with a key that it brings along',
      (honest) => token(honest, { key: FOREIGN_KEY, header: { kid: 'mine' } }),
    ],
    ['of another issuer', (honest) => token({ ...honest, iss: 'https://evil.test' })],
    ['for another client', (honest) => token({ ...honest, aud: 'other' })],
    [
      'for several clients and used by another',
      (honest) => token({ ...honest, aud: ['weir', 'other'], azp: 'other' }),
    ],
    ['used by another client', (honest) => token({ ...honest, azp: 'other' })],
    ['that has expired', (honest) => token({ ...honest, exp: 1 })],
    ['without an end', (honest) => token({ ...honest, exp: undefined })],
    ['with another nonce', (honest) => token({ ...honest, nonce: 'other' })],
    ['without a nonce', (honest) => token({ ...honest, nonce: undefined })],
    ['that names nobody', (honest) => token({ ...honest, sub: undefined })],
    ['that is no token', () => 'abc'],
  ]
  it.each(cases)('%s', async (_, forge) => {
    provider.forge = forge
    const browser = world.browser()
    const sent = await begin(browser)
    expect(await comeBack(browser, { code: 'c', state: state(sent) })).toBe(refused('provider_failed'))
    expect(await isSignedIn(browser)).toBe(false)
    const [entry] = await world.audit('session.sign_in')
    expect(entry?.details).toMatchObject({ result: 'refused', reason: 'provider_failed' })
  })
})

it.each([
  '//evil.test',
  '/\\evil.test',
  '/\\/evil.test/app/',
  'https://evil.test/app/',
  '/app/../..//evil.test',
  '/app/%2e%2e/%2e%2e//evil.test',
  '/app\\..\\..\\evil.test',
  '%2f%2fevil.test',
  'javascript:alert(1)',
  '/api/v1/auth/session',
  '\t//evil.test',
])('TEAM-3: return_to=%s does not lead out of the interface', async (text) => {
  const browser = world.browser()
  const sent = await begin(browser, 'custom-oidc', `?return_to=${encodeURIComponent(text)}`)
  expect(await comeBack(browser, { code: 'c', state: state(sent) })).toBe('/app/')
})

it('TEAM-6: a session that an attacker has set before is not used further', async () => {
  const browser = world.browser()
  const name = `weir_session_${new URL(world.url).port}`
  const planted = 'a'.repeat(43)
  browser.cookies.set(`${new URL(world.url).host}/`, new Map([[name, planted]]))
  const sent = await begin(browser)
  expect(await comeBack(browser, { code: 'c', state: state(sent) })).toBe('/app/')
  const secret = browser.cookies.get(`${new URL(world.url).host}/`)?.get(name)
  expect([secret === planted, await isSignedIn(browser)]).toEqual([false, true])
})

it('IDENTITY-17: after ten refused answers in a minute from one address the next are 429', async () => {
  const browser = world.browser()
  for (let i = 0; i < 10; i++)
    expect(await comeBack(browser, { code: 'c', state: 'x'.repeat(43) })).toBe(refused('attempt_expired'))
  expect(await comeBack(browser, { code: 'c', state: 'x'.repeat(43) })).toBe('status 429')
})
