import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { SchemaTypes } from '../../../../src/schema/types.gen.ts'
import { LONG_MS } from '../../../support/campaign.ts'
import { eventually } from '../../../support/eventually.ts'
import { fixedPort } from '../../../support/fixed-port.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../../support/servers/weir-process.ts'
import { createHttpBrowser, type HttpBrowser } from '../../../support/sign-in/http-browser.ts'
import { CLIENT, type OidcProvider, startOidcProvider } from '../../../support/sign-in/oidc-provider.ts'
import { temporaryDir } from '../../../support/stores/clickhouse/embedded-clickhouse.ts'
import { postgresDatabases } from '../../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../../support/stores/sql/postgres.ts'

// Two servers start, and a change may take half a minute to be known.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Milliseconds within which a change on another server has its effect on open streams, and on requests. */
const EFFECT_MS = 10_000
const KNOWN_MS = 30_000
/** Milliseconds that the requests themselves may take, on a busy machine. */
const ASKING_MS = 2_000
const FILE = `version: 1
workspaces: [{name: ml}, {name: research}]
service_keys: [{name: ci, role: user, workspaces: [ml], key: {env: CI_KEY}}]
`
const REASON = withoutPostgres()

describe.skipIf(REASON !== '')(`a set-up file and SCIM at servers with one Postgres${REASON}`, () => {
  const databases = postgresDatabases()
  let folder: Awaited<ReturnType<typeof temporaryDir>>
  let provider: OidcProvider
  let url: string
  let servers: [WeirProcess, WeirProcess]
  let token: string

  beforeAll(async () => {
    folder = await temporaryDir()
    url = await databases.take()
    const SETUP_FILE = join(folder.dir, 'weir.yaml')
    await writeFile(SETUP_FILE, FILE)
    const addresses = await Promise.all([fixedPort(), fixedPort(), fixedPort()])
    const origins = addresses.map((port) => `http://127.0.0.1:${port}`)
    provider = await startOidcProvider(origins.map((one) => `${one}/api/v1/oauth/custom-oidc/callback`))
    const start = (at: 0 | 1 | 2): Promise<WeirProcess> =>
      startWeir(join(folder.dir, String(at)), {
        PORT: String(addresses[at]),
        PUBLIC_URL: origins[at] ?? '',
        DATABASE_URL: url,
        BLOB_URL: pathToFileURL(join(folder.dir, 'blobs')).href,
        SECRETS_KEY: 's'.repeat(32),
        OAUTH_ISSUER_URL: provider.issuer,
        OAUTH_CLIENT_ID: CLIENT.id,
        OAUTH_CLIENT_SECRET: CLIENT.secret,
        OAUTH_GROUP_ROLES: 'ml=operator',
        OAUTH_DEFAULT_ROLE: 'viewer',
        OAUTH_SIGN_UP: 'off',
        SETUP_FILE,
        CI_KEY: 'the_key_of_ci_0123456789',
      })
    const [first, second, third] = await Promise.all([start(0), start(1), start(2)])
    servers = [first, second]
    await third.kill()
    const made = await servers[0].json<SchemaTypes['scim-token-created']>(
      '/orgs/current/scim-tokens',
      jsonBody('POST', {}),
    )
    token = made.token
  })
  afterAll(async () => {
    await Promise.all((servers ?? []).map((server) => server.kill()))
    await provider?.close()
    databases.giveBack(url)
    await folder?.remove()
  })

  it('TEAM-11: three servers that start at once apply SETUP_FILE once', async () => {
    const [one, two] = servers
    const { audit_logs: runs } = await one.json<{ audit_logs: { details: object }[] }>(
      '/orgs/current/audit-logs?action=setup.apply',
    )
    expect(runs).toMatchObject([{ details: { create: 3 } }])
    const all = await two.json<{ display_name: string }[]>('/workspaces')
    expect(all.map(({ display_name }) => display_name).toSorted()).toEqual(['Default', 'ml', 'research'])
    for (const server of servers)
      expect(await server.json('/setup/file')).toEqual({ has_file: true, error: null, kept: 3, steps: [] })
  })

  async function scim<T>(server: WeirProcess, method: string, path: string, body: object): Promise<T> {
    const answer = await fetch(`${new URL(server.url).origin}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify(body),
    })
    expect(answer.ok).toBe(true)
    return (await answer.json()) as T
  }
  const setActive = (server: WeirProcess, id: string, active: boolean): Promise<unknown> =>
    scim(server, 'PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value: { active } }] })

  /** Makes the user at the first server, and signs it in at the second. */
  async function signedIn(sub: string): Promise<{ id: string; browser: HttpBrowser }> {
    const email = `${sub}@acme.test`
    const { id } = await scim<{ id: string }>(servers[0], 'POST', '/Users', {
      userName: email,
      externalId: sub,
      active: true,
    })
    provider.accounts.set(sub, { sub, claims: { email, email_verified: true } })
    const browser = createHttpBrowser()
    expect(await signInAt(servers[1], sub, browser)).toBe('/app/')
    return { id, browser }
  }
  /** Where the browser ends. */
  async function signInAt(server: WeirProcess, sub: string, browser: HttpBrowser): Promise<string> {
    provider.person = sub
    const { origin } = new URL(server.url)
    const end = await browser.follow(
      `${origin}/api/v1/oauth/custom-oidc/login`,
      (at) => at.origin === origin && at.pathname.startsWith('/app/'),
    )
    return `${end.url.pathname}${end.url.search}`
  }
  const session = async (browser: HttpBrowser): Promise<{ status: number; role?: string }> => {
    const answer = await browser.fetch(`${new URL(servers[1].url).origin}/api/v1/auth/session`)
    return { status: answer.status, ...((await answer.json()) as { role?: string }) }
  }

  it(`TEAM-10: who is deactivated at one is out at the other: streams within ${EFFECT_MS / 1000} s, sessions and tokens within ${KNOWN_MS / 1000} s`, async () => {
    const [one, two] = servers
    const { id, browser } = await signedIn('ada')
    const made = await one.json<SchemaTypes['api-key-created']>(
      '/orgs/current/personal-access-tokens',
      jsonBody('POST', { description: 'of ada', user_id: id }),
    )
    const headers = { 'x-api-key': made.key }
    const byToken = async (): Promise<number> => (await fetch(`${two.url}/auth/session`, { headers })).status
    await eventually(async () => expect(await byToken()).toBe(200))
    const [workspace] = await two.json<{ id: string }[]>('/workspaces')
    const stream = await browser.fetch(`${two.url}/live?topic=ingest`, {
      headers: { 'x-tenant-id': workspace?.id ?? '' },
    })
    expect([stream.status, (await session(browser)).status]).toEqual([200, 200])
    const ended = stream.text().then(
      () => performance.now(),
      () => performance.now(),
    )
    const from = performance.now()
    await setActive(one, id, false)
    const ms = (await ended) - from
    await eventually(async () => {
      expect([(await session(browser)).status, await byToken()]).toEqual([401, 401])
    }, KNOWN_MS + ASKING_MS)
    const out = performance.now() - from
    console.log(
      `deactivated at another server: stream after ${Math.round(ms)} ms, requests ${Math.round(out)} ms`,
    )
    expect(ms).toBeLessThan(EFFECT_MS)
    expect(out).toBeLessThan(KNOWN_MS + ASKING_MS)
    expect(await signInAt(two, 'ada', createHttpBrowser())).toMatch(/^\/app\/sign-in\?error=/)
    // And back again, through the other server; the token is gone for good.
    await setActive(two, id, true)
    const again = createHttpBrowser()
    expect(await signInAt(two, 'ada', again)).toBe('/app/')
    expect([(await session(again)).status, await byToken()]).toEqual([200, 401])
  })

  it('TEAM-10: a group that SCIM gives and takes at one changes the rights at the other', async () => {
    const { id, browser } = await signedIn('bob')
    expect(await session(browser)).toMatchObject({ role: 'viewer' })
    const { id: group } = await scim<{ id: string }>(servers[0], 'POST', '/Groups', {
      displayName: 'ml',
      members: [{ value: id }],
    })
    await eventually(
      async () => expect(await session(browser)).toMatchObject({ role: 'operator' }),
      KNOWN_MS + ASKING_MS,
    )
    await scim(servers[1], 'PATCH', `/Groups/${group}`, {
      Operations: [{ op: 'remove', path: `members[value eq "${id}"]` }],
    })
    // The server that took the change knows it at once.
    expect(await session(browser)).toMatchObject({ role: 'viewer' })
  })
})
