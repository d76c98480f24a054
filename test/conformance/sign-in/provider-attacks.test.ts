import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HttpBrowser } from '../../support/sign-in/http-browser.ts'
import {
  CLIENT,
  type OidcProvider,
  OTHER_CLIENT,
  startOidcProvider,
} from '../../support/sign-in/oidc-provider.ts'
import { type SignInWorld, startSignInWorld } from './world.ts'

// The attacks against two real providers. attacks.test.ts has more responses than these would ever give.

let world: SignInWorld
let provider: OidcProvider
let second: OidcProvider
beforeEach(async () => {
  world = await startSignInWorld(async (callback) => {
    provider = await startOidcProvider([callback()])
    second = await startOidcProvider([callback('second')])
    for (const one of [provider, second])
      for (const sub of ['ada', 'eve'])
        one.accounts.set(sub, { sub, claims: { email: `${sub}@acme.test`, email_verified: true } })
    const client = { client_id: CLIENT.id, client_secret: CLIENT.secret, default_role: 'user' as const }
    return [
      { ...client, issuer_url: provider.issuer },
      { ...client, issuer_url: second.issuer, id: 'second' },
    ]
  })
})
afterEach(async () => {
  await world.fixture.stop()
  await provider.close()
  await second.close()
})

const REFUSED = '/app/sign-in?error=provider_failed'
const EXPIRED = '/app/sign-in?error=attempt_expired'

/** Begins a sign-in; returns the address to which Weir sends the browser. */
async function begin(browser: HttpBrowser, id = 'custom-oidc'): Promise<URL> {
  const answer = await browser.fetch(`${world.url}/api/v1/oauth/${id}/login`)
  return new URL(answer.headers.get('location') ?? '')
}

/** Signs in at the provider and stops in front of the callback, whose address it returns. */
async function comeToCallback(browser: HttpBrowser, url: URL): Promise<URL> {
  const end = await browser.follow(url.href, (at) => at.origin === world.url)
  expect(end.url.searchParams.get('code')).not.toBeNull()
  return end.url
}

/** Where the browser is sent from this address. */
async function sentTo(browser: HttpBrowser, url: URL | string): Promise<string> {
  const answer = await browser.fetch(typeof url === 'string' ? url : url.href)
  return answer.headers.get('location') ?? `status ${answer.status}`
}

/** The same address with other parameters; null removes one. */
function changed(url: URL, parameters: Record<string, string | null>): URL {
  const next = new URL(url)
  for (const [name, value] of Object.entries(parameters))
    if (value === null) next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  return next
}

const isSignedIn = async (browser: HttpBrowser): Promise<boolean> =>
  (await world.session(browser)).status === 200
const parameter = (url: URL, name: string): string => url.searchParams.get(name) ?? ''

describe('TEAM-3: with real providers', () => {
  it('code injection: the code of one person does not sign in another browser', async () => {
    const [victim, attacker] = [world.browser(), world.browser()]
    provider.person = 'eve'
    const stolen = parameter(await comeToCallback(attacker, await begin(attacker)), 'code')
    provider.person = 'ada'
    const own = await comeToCallback(victim, await begin(victim))
    expect(await sentTo(victim, changed(own, { code: stolen }))).toBe(REFUSED)
    expect(await isSignedIn(victim)).toBe(false)
    // The provider refused it by PKCE: with its own code the same browser signs in.
    expect(await sentTo(victim, await comeToCallback(victim, await begin(victim)))).toBe('/app/')
    expect(await isSignedIn(victim)).toBe(true)
  })

  it('mix-up: what one provider sent is not redeemed at another', async () => {
    const browser = world.browser()
    const honest = await comeToCallback(browser, await begin(browser))
    const other = await comeToCallback(browser, await begin(browser, 'second'))
    const redeemed = second.asked()
    const toSecond = changed(other, { code: parameter(honest, 'code'), iss: provider.issuer })
    expect(await sentTo(browser, toSecond)).toBe(REFUSED)
    // The second provider did not even get the code.
    expect(second.asked()).toBe(redeemed)
    const silent = await comeToCallback(browser, await begin(browser, 'second'))
    expect(await sentTo(browser, changed(silent, { iss: null }))).toBe(REFUSED)
    const elsewhere = new URL(`${world.callback('second')}${honest.search}`)
    expect(await sentTo(browser, elsewhere)).toBe(EXPIRED)
    expect([second.asked(), await isSignedIn(browser)]).toEqual([redeemed, false])
  })

  it('replayed state: the address of a callback works once, in its own browser', async () => {
    const [victim, attacker] = [world.browser(), world.browser()]
    const url = await comeToCallback(victim, await begin(victim))
    expect(await sentTo(attacker, url)).toBe(EXPIRED)
    expect(await sentTo(victim, url)).toBe('/app/')
    expect(await sentTo(victim, url)).toBe(EXPIRED)
    const next = await comeToCallback(attacker, await begin(attacker))
    expect(await sentTo(attacker, changed(next, { state: parameter(url, 'state') }))).toBe(EXPIRED)
    expect(await isSignedIn(attacker)).toBe(false)
  })

  it('tokens of another client: neither its code nor its id token signs in', async () => {
    const browser = world.browser()
    const verifier = 'v'.repeat(43)
    /** Signs ada in at the attacker's client, with the nonce of a sign-in at Weir. */
    const atOther = async (nonce: string): Promise<{ code: string; id_token: string }> => {
      const codes = await Promise.all(
        [1, 2].map(async () => {
          const url = changed(await begin(world.browser()), {
            client_id: OTHER_CLIENT.id,
            nonce,
            code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          })
          return parameter(await comeToCallback(world.browser(), url), 'code')
        }),
      )
      const [code = '', spent = ''] = codes
      const answer = await fetch(`${provider.issuer}/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${OTHER_CLIENT.id}:${OTHER_CLIENT.secret.replaceAll(' ', '+')}`).toString('base64')}`,
        },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code: spent,
          redirect_uri: world.callback(),
          code_verifier: verifier,
        }),
      })
      const { id_token } = (await answer.json()) as { id_token: string }
      expect(id_token).toMatch(/^ey/)
      return { code, id_token }
    }
    const first = await begin(browser)
    const theirs = await atOther(parameter(first, 'nonce'))
    const own = await comeToCallback(browser, first)
    expect(await sentTo(browser, changed(own, { code: theirs.code }))).toBe(REFUSED)
    const next = await begin(browser)
    const { id_token } = await atOther(parameter(next, 'nonce'))
    provider.forge = () => id_token
    expect(await sentTo(browser, await comeToCallback(browser, next))).toBe(REFUSED)
    expect(await isSignedIn(browser)).toBe(false)
  })

  type Claims = Record<string, unknown>
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claimsOf = (token: string): Claims =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims
  it.each<[string, boolean, (token: string) => string]>([
    ['as it is', true, (token) => token],
    ['signed again by the provider', true, (token) => provider.sign(claimsOf(token))],
    ['unsigned', false, (token) => token.replace(/[^.]*$/, '')],
    ['of alg none', false, (token) => `${part({ alg: 'none' })}.${token.split('.')[1]}.`],
    ['of another issuer', false, (token) => provider.sign({ ...claimsOf(token), iss: second.issuer })],
    ['by the key of another provider', false, (token) => second.sign(claimsOf(token))],
    ['for another audience', false, (token) => provider.sign({ ...claimsOf(token), aud: OTHER_CLIENT.id })],
    ['that has expired', false, (token) => provider.sign({ ...claimsOf(token), exp: 1 })],
    ['with another nonce', false, (token) => provider.sign({ ...claimsOf(token), nonce: 'x' })],
  ])('an id token %s signs in: %s', async (_, isGood, forge) => {
    provider.forge = forge
    const browser = world.browser()
    const url = await comeToCallback(browser, await begin(browser))
    expect(await sentTo(browser, url)).toBe(isGood ? '/app/' : REFUSED)
    expect(await isSignedIn(browser)).toBe(isGood)
  })

  it('TEAM-14: sign-ins and refusals are in the audit, without a code, a token or a secret', async () => {
    const [browser, refused] = [world.browser(), world.browser()]
    const seen: string[] = [CLIENT.secret]
    provider.forge = (token) => {
      seen.push(token)
      return token
    }
    const good = await comeToCallback(browser, await begin(browser))
    expect(await sentTo(browser, good)).toBe('/app/')
    const bad = await comeToCallback(refused, await begin(refused))
    expect(await sentTo(refused, changed(bad, { iss: second.issuer }))).toBe(REFUSED)
    const { host, port } = new URL(world.url)
    seen.push(browser.cookies.get(`${host}/`)?.get(`weir_session_${port}`) ?? 'none')
    for (const url of [good, bad]) seen.push(parameter(url, 'code'), parameter(url, 'state'))
    const entries = await world.audit('session.sign_in')
    expect(entries.map(({ details }) => details['result'])).toEqual(['refused', 'ok'])
    const text = await (await world.fixture.request('/orgs/current/audit-logs')).text()
    expect(seen).toHaveLength(7)
    for (const secret of seen) expect(text).not.toContain(secret)
  })

  it('open redirect: neither return_to nor a changed redirect_uri leads elsewhere', async () => {
    const browser = world.browser()
    for (const return_to of [
      '//evil.test',
      'https://evil.test/app/',
      '/\\evil.test',
      '/app/../..//evil.test',
    ]) {
      const end = await world.signIn(browser, { return_to })
      expect(end.href).toBe(`${world.url}/app/`)
    }
    const evil = changed(await begin(browser), { redirect_uri: 'https://evil.test/callback' })
    const answer = await browser.fetch(evil.href)
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
  })

  it('session fixation: a planted session or attempt becomes nobody’s session', async () => {
    const [victim, attacker] = [world.browser(), world.browser()]
    const { host, port } = new URL(world.url)
    const name = `weir_session_${port}`
    const planted = 'a'.repeat(43)
    victim.cookies.set(`${host}/`, new Map([[name, planted]]))
    await world.signIn(victim)
    expect(victim.cookies.get(`${host}/`)?.get(name)).not.toBe(planted)
    expect(await isSignedIn(victim)).toBe(true)
    attacker.cookies.set(`${host}/`, new Map([[name, planted]]))
    expect(await isSignedIn(attacker)).toBe(false)
    // A new sign-in gives a new secret, and the one before does not work any more for a thief.
    const before = victim.cookies.get(`${host}/`)?.get(name)
    await world.signIn(victim)
    expect(victim.cookies.get(`${host}/`)?.get(name)).not.toBe(before)
    // The attacker plants its own attempt, so that the victim ends in the attacker's account.
    const own = await begin(attacker)
    provider.person = 'eve'
    const url = await comeToCallback(attacker, own)
    const fresh = world.browser()
    expect(await sentTo(fresh, url)).toBe(EXPIRED)
    expect(await isSignedIn(fresh)).toBe(false)
  })
})
