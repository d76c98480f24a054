import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'

const FIXTURES = new URL('../../fixtures/hostile-code/', import.meta.url)
const JSON_TYPE = { 'content-type': 'application/json' }
const FOREIGN = { 'x-api-key': 'a-token-of-the-app-0123456789' }

interface Server {
  weir: WeirProcess
  /** URL of the deployment at the address of the interface. */
  mount: string
  /** The cookie of an administrator. */
  cookie: string
  /** Its value. */
  secret: string
}

function useHostileCode(file: string, env: Record<string, string> = {}): () => Server {
  let server: Server | undefined
  beforeAll(async () => {
    const GRAPHS = fileURLToPath(new URL(file, FIXTURES))
    const weir = await startWeir({ GRAPHS, DEPLOYMENT_NAME: 'hostile', ...env })
    const signedIn = await fetch(`${weir.url}/auth/session`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ key: weir.key }),
    })
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    server = { weir, mount: `${weir.url}/deployments/hostile`, cookie, secret: cookie.split('=')[1] ?? '' }
    expect(server.secret).toHaveLength(43)
  })
  afterAll(async () => expect(await server?.weir.stop()).toBe(0))
  return () => {
    if (server === undefined) throw new Error('the server has not started')
    return server
  }
}

async function makeKey(weir: WeirProcess, workspaces: string[]): Promise<string> {
  const wanted = { description: 'of a caller', role: 'user', workspaces }
  return (await weir.json<{ key: string }>('/api/v1/orgs/current/service-keys', wanted)).key
}

/** A server whose deployment has an HTTP app. */
const server = useHostileCode('langgraph.json')

describe('D-64: the HTTP app of a deployment', () => {
  let secrets: string[] = []

  /** The headers that the app has got since the last call. */
  const seen = async (): Promise<string> => await (await fetch(`${server().mount}/seen`)).text()
  const search = async (base: string, headers: Record<string, string>): Promise<number> => {
    const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: '{}' }
    const answer = await fetch(`${base}/assistants/search`, init)
    await answer.body?.cancel()
    return answer.status
  }

  beforeAll(() => void (secrets = [server().secret, server().weir.key]))

  it('gets no session, neither for its own routes nor as middleware of the routes of Weir, which serve it', async () => {
    const { weir, mount, cookie } = server()
    const headers = { cookie: `theme=dark; ${cookie}`, 'sec-fetch-site': 'same-origin' }
    expect(await search(mount, headers)).toBe(200)
    const port = new URL(weir.url).port
    const odd = `Weir_Session_${port}=${server().secret}; __Host-weir_session=${server().secret}`
    await fetch(`${mount}/report`, { headers: { cookie: `${odd}; lang=de` } })
    await fetch(`${weir.deploymentUrl}/report`, { headers })
    const text = await seen()
    expect(text).toContain('cookie: theme=dark')
    expect(text).toContain('cookie: lang=de')
    expect(text).not.toMatch(/weir_session/i)
    for (const secret of secrets) expect(text).not.toContain(secret)
  })

  it('cannot use a session for a request of another page, or after the request', async () => {
    const { mount, cookie } = server()
    expect(await search(mount, { cookie, origin: 'http://127.0.0.1:3000' })).toBe(403)
    expect(await search(mount, { cookie, 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await search(mount, { cookie, 'sec-fetch-site': 'same-origin' })).toBe(200)
    const id = /x-weir-passed: ([\da-f-]{36})/.exec(await seen())?.[1]
    expect(id).toBeDefined()
    expect(await search(mount, { 'x-weir-passed': id ?? '' })).toBe(401)
  })

  it('gets the key of a caller in x-api-key, as on LangGraph’s server, while it opens only this workspace', async () => {
    const { weir, mount, cookie } = server()
    const [home] = await weir.json<{ id: string }[]>('/workspaces')
    const own = await makeKey(weir, [home?.id ?? ''])
    expect(await search(mount, { 'x-api-key': own })).toBe(200)
    expect(await seen()).toContain(`x-api-key: ${own}`)
    expect(await search(mount, { authorization: `Bearer ${own}` })).toBe(200)
    expect(await search(mount, { 'x-api-key': own, cookie })).toBe(200)
    const basic = Buffer.from(`user:${own}`).toString('base64')
    await fetch(`${mount}/report`, { headers: { authorization: `Basic ${basic}` } })
    const text = await seen()
    expect(text).not.toContain(own)
    expect(text).not.toContain(basic)
    const other = await weir.json<{ id: string }>('/workspaces', { display_name: 'team-b' })
    const both = await makeKey(weir, [home?.id ?? '', other.id])
    const foreign = await makeKey(weir, [other.id])
    for (const key of [both, weir.key]) expect(await search(mount, { 'x-api-key': key })).toBe(200)
    expect(await search(mount, { 'x-api-key': foreign })).toBe(403)
    const later = await seen()
    for (const key of [both, weir.key, foreign]) expect(later).not.toContain(key)
    expect(await search(mount, { 'x-api-key': own })).toBe(200)
    expect(await seen()).toContain(`x-api-key: ${own}`)
  })

  it('loses no refusal that comes before the body is read', async () => {
    const { mount } = server()
    const body = JSON.stringify({ metadata: { text: 'x'.repeat(500_000) } })
    const refused = async (): Promise<number> => {
      const init = { method: 'POST', headers: JSON_TYPE, body }
      return (await fetch(`${mount}/assistants/search`, init)).status
    }
    for (let round = 0; round < 10; round++) expect([round, await refused()]).toEqual([round, 401])
  })

  it('gets tokens that are no keys of Weir unchanged', async () => {
    const { mount, cookie } = server()
    const headers = { ...FOREIGN, authorization: 'Bearer eyJhbGciOi.J9', cookie }
    await (await fetch(`${mount}/report`, { headers })).body?.cancel()
    const text = await seen()
    expect(text).toContain(`x-api-key: ${FOREIGN['x-api-key']}`)
    expect(text).toContain('authorization: Bearer eyJhbGciOi.J9')
  })

  it('graphs get no credentials in their configuration, whatever http.configurable_headers names', async () => {
    const { mount, cookie, weir } = server()
    const run = async (headers: Record<string, string>): Promise<string> => {
      const body = JSON.stringify({ assistant_id: 'agent', input: {} })
      const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body }
      return await (await fetch(`${mount}/runs/wait`, init)).text()
    }
    const all = [await run({ cookie: `${cookie}; a=b`, 'x-mine': '1' }), await run({ 'x-api-key': weir.key })]
    all.push(await run({ authorization: `Bearer ${weir.key}` }))
    expect(all[0]).toContain('x-mine')
    for (const text of all) {
      expect(text).toContain('seen')
      for (const secret of secrets) expect(text).not.toContain(secret)
      expect(text).not.toContain('x-weir-passed')
    }
  })
})

describe('D-64: answers of the HTTP app', () => {
  const answer = async (base: string, sent: [string, string][], headers = {}): Promise<Headers> => {
    const init = { method: 'POST', body: JSON.stringify(sent), headers: { ...JSON_TYPE, ...headers } }
    const got = await fetch(`${base}/answer`, init)
    expect(await got.text()).toBe('answered')
    return got.headers
  }

  it('have an opaque origin under /deployments/{name}, even if the app says otherwise', async () => {
    const { mount } = server()
    const sandbox = 'sandbox allow-scripts allow-forms allow-popups'
    for (const path of ['/report', '/picture.svg', '/sw.js', '/assistants/agent']) {
      const { headers } = await fetch(mount + path)
      expect([path, headers.get('content-security-policy')]).toEqual([path, sandbox])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-frame-options')).toBe('DENY')
    }
    const own = await answer(mount, [
      ['content-security-policy', 'sandbox allow-scripts allow-same-origin'],
      ['x-frame-options', 'ALLOWALL'],
      ['referrer-policy', 'unsafe-url'],
    ])
    expect(own.get('content-security-policy')?.split(', ')).toContain(sandbox)
    expect(own.get('x-frame-options')).toBe('DENY')
    expect(own.get('referrer-policy')).toBe('no-referrer')
    const { headers } = await fetch(`${server().weir.deploymentUrl}/report`)
    expect(headers.get('content-security-policy')).toBeNull()
  })

  it('never take effect beyond themselves', async () => {
    const names = ['Service-Worker-Allowed', 'clear-site-data', 'Strict-Transport-Security', 'alt-svc', 'NEL']
    const more = [
      'report-to',
      'origin-agent-cluster',
      'set-login',
      'accept-ch',
      'x-accel-redirect',
      'sec-thing',
    ]
    const { weir, mount } = server()
    for (const base of [mount, weir.deploymentUrl]) {
      const got = await answer(
        base,
        [...names, ...more, 'x-mine'].map((name): [string, string] => [name, '/']),
      )
      expect([...names, ...more].filter((name) => got.has(name))).toEqual([])
      expect(got.get('x-mine')).toBe('/')
    }
  })

  it('never set a session cookie, and limit other cookies to the deployment', async () => {
    const { weir, mount, secret } = server()
    const name = `weir_session_${new URL(weir.url).port}`
    const cookies = [
      `${name}=${secret}; Path=/`,
      `  ${name.toUpperCase()}=${secret}; Path=/app`,
      `__Host-${name}=${secret}; Secure; Path=/`,
      `weir_session=${secret}; Domain=127.0.0.1`,
      `=${name}=${secret}`,
      name,
      `\u00a0${name}=${secret}`,
      'mine=1; path=/; PATH = /api; domain=example.com; HttpOnly',
      'other=2',
    ]
    const sent = cookies.map((cookie): [string, string] => ['set-cookie', cookie])
    expect((await answer(mount, sent)).getSetCookie()).toEqual([
      'mine=1; HttpOnly; Path=/deployments/hostile/api',
      'other=2; Path=/deployments/hostile',
    ])
    expect((await answer(weir.deploymentUrl, sent)).getSetCookie()).toEqual([
      'mine=1; HttpOnly; Path=/api',
      'other=2',
    ])
  })

  it('are no scripts, workers and styles of pages of Weir', async () => {
    const { mount, cookie } = server()
    const site = { cookie, 'sec-fetch-site': 'same-origin' }
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${mount}/sw.js`, { headers })).status
    for (const dest of ['script', 'worker', 'serviceworker', 'style', 'iframe'])
      expect([dest, await status({ ...site, 'sec-fetch-dest': dest })]).toEqual([dest, 403])
    expect(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'script' })).toBe(200)
    expect(await status({ ...site, 'sec-fetch-dest': 'document' })).toBe(200)
  })

  it('carry no CORS headers for a session', async () => {
    const { mount, cookie } = server()
    const cors: [string, string][] = [
      ['access-control-allow-origin', 'http://evil.example'],
      ['access-control-allow-credentials', 'true'],
    ]
    expect((await answer(mount, cors, { cookie })).get('access-control-allow-origin')).toBeNull()
    expect((await answer(mount, cors)).get('access-control-allow-origin')).toBe('http://evil.example')
  })
})

/** The URL of pages, as the web interface links to it. */
async function pagesUrl(weir: WeirProcess): Promise<string | null | undefined> {
  type Listed = { resources: { weir: { pages_url: string | null } }[] }
  return (await weir.json<Listed>('/v2/deployments')).resources[0]?.weir.pages_url
}

describe('D-64: the deployment port', () => {
  it('serves every deployment in the sandbox, without sessions, and is where the interface links to', async () => {
    const { weir, cookie, secret } = server()
    const pages = `${weir.deploymentUrl}/deployments/hostile`
    expect(await pagesUrl(weir)).toBe(pages)
    const page = await fetch(`${pages}/report`)
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      'sandbox allow-scripts allow-forms allow-popups',
    ])
    const named = `${cookie}; weir_session_${new URL(weir.deploymentUrl).port}=${secret}`
    for (const site of ['none', 'same-origin']) {
      const headers = { ...JSON_TYPE, cookie: named, 'sec-fetch-site': site }
      const init = { method: 'POST', headers, body: '{}' }
      expect((await fetch(`${pages}/threads/search`, init)).status).toBe(401)
    }
    const keyed = { method: 'POST', headers: { ...JSON_TYPE, 'x-api-key': weir.key }, body: '{}' }
    const found = await fetch(`${pages}/threads/search`, keyed)
    expect(found.status).toBe(200)
    expect((await fetch(`${weir.deploymentUrl}/deployments/none/report`)).status).toBe(404)
  })
})

describe('D-64: DEPLOYMENTS_ORIGIN', () => {
  const named = useHostileCode('langgraph.json', { DEPLOYMENTS_ORIGIN: 'http://apps.example.com:8080/' })

  it('with a host name of its own serves pages without the sandbox, but not at the interface', async () => {
    const { weir, mount } = named()
    expect(await pagesUrl(weir)).toBe('http://apps.example.com:8080/deployments/hostile')
    const policy = async (base: string): Promise<string | null> =>
      (await fetch(`${base}/report`)).headers.get('content-security-policy')
    expect(await policy(`${weir.deploymentUrl}/deployments/hostile`)).toBeNull()
    expect(await policy(mount)).toContain('sandbox')
  })
})

describe('D-64: the auth file of a deployment', () => {
  const guarded = useHostileCode('with-auth.json')
  const secretsIn = (text: string): string[] =>
    [guarded().secret, guarded().weir.key, 'weir_session'].filter((secret) => text.includes(secret))

  it('gets no session and no key of an administrator with another workspace', async () => {
    const { weir, mount, cookie } = guarded()
    await weir.json('/workspaces', { display_name: 'team-b' })
    const run = async (headers: Record<string, string>): Promise<string> => {
      const body = JSON.stringify({ assistant_id: 'agent', input: {} })
      const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body }
      return await (await fetch(`${mount}/runs/wait`, init)).text()
    }
    const callers: Record<string, string>[] = [
      { cookie },
      { 'x-api-key': weir.key },
      { authorization: `Bearer ${weir.key}` },
    ]
    for (const headers of callers) {
      const text = await run({ ...headers, 'x-mine': 'there' })
      expect(text).toContain('x-mine: there')
      expect(secretsIn(text)).toEqual([])
    }
    expect(await run(FOREIGN)).toContain(`x-api-key: ${FOREIGN['x-api-key']}`)
  })

  it('gets no key that a socket sends as a subprotocol', async () => {
    const { mount, weir, cookie } = guarded()
    const headers = { ...JSON_TYPE, cookie }
    const made = await fetch(`${mount}/threads`, { method: 'POST', headers, body: '{}' })
    const { thread_id } = (await made.json()) as { thread_id: string }
    const key = Buffer.from(weir.key).toString('base64url')
    const url = `${mount.replace('http', 'ws')}/threads/${thread_id}/stream/events`
    const socket = new WebSocket(url, ['weir.v2', `key.${key}`], { headers: { cookie } })
    const params = { assistant_id: 'agent', input: {} }
    const frames: string[] = []
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', (code) => reject(new Error(`closed with ${code}`)))
      socket.on('open', () => socket.send(JSON.stringify({ id: 1, method: 'run.start', params })))
      socket.on('message', (frame: Buffer) => {
        frames.push(frame.toString())
        resolve()
      })
    })
    socket.removeAllListeners('close')
    socket.close()
    const state = await (await fetch(`${mount}/threads/${thread_id}/runs`, { headers })).text()
    expect(state).toContain('sec-websocket')
    for (const text of [...frames, state]) {
      expect(secretsIn(text)).toEqual([])
      expect(text).not.toContain(key)
    }
  })
})
