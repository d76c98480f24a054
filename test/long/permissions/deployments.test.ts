import { once } from 'node:events'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type Permission, permissionsOf } from '../../../src/identity/permissions.ts'
import { deploymentRoutes } from '../../../src/http/deployment/routes.ts'
import { useDeployment } from '../../conformance/deployments/use-deployment.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Every route is called with every kind of key.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/**
 * Tests every route of the deployment API with every kind of key: it answers 401 and 403 exactly where the route
 * says so. Ids are unknown and bodies are empty, so a permitted caller gets
 * 404 or 422.
 */
const ID = 'a5a5a5a5-0000-4000-8000-000000000000'
const ROLES = ['admin', 'operator', 'user', 'viewer'] as const
const setup = useDeployment()
const held: AbortController[] = []
afterAll(() => {
  for (const request of held) request.abort()
})

interface KeyOptions {
  role?: (typeof ROLES)[number]
  read_only?: boolean
  workspaces?: string[]
}

async function makeKey(options: KeyOptions): Promise<string> {
  const body = { description: 'test', default_workspace_id: null, ...options }
  const made = await setup().weir.json<{ key: string }>('/orgs/current/service-keys', body)
  return made.key
}

async function homeWorkspace(): Promise<string> {
  const [home] = await setup().weir.json<{ id: string }[]>('/workspaces')
  return home?.id ?? ''
}

/** For each route, the status of a request with these headers. */
async function statuses(headers: Record<string, string>): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const { method, path } of deploymentRoutes()) {
    const url = setup().weir.deploymentUrl + path.replaceAll(/\{\w+\}/g, ID)
    const takesBody = method !== 'GET'
    const answer = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...headers },
      ...(takesBody && { body: '{}' }),
    })
    found.set(`${method} ${path}`, answer.status)
    await answer.body?.cancel()
  }
  return found
}

/**
 * Routes that answer 401, 403 or 500 although the key has the permission, and routes that do not answer `refusal`
 * although it lacks it.
 */
function wrong(
  found: Map<string, number>,
  permissions: ReadonlySet<Permission> | undefined,
  refusal: number,
): string[] {
  return deploymentRoutes().flatMap(({ method, path, needs }) => {
    const status = found.get(`${method} ${path}`) ?? 0
    const may = needs === 'open' || (permissions?.has(needs as Permission) ?? false)
    const fits = may ? ![401, 403, 500].includes(status) : status === refusal
    return fits ? [] : [`${method} ${path} needs ${needs}: ${status}`]
  })
}

describe('keys of the deployment', () => {
  it('may what their role allows', async () => {
    const workspaces = [await homeWorkspace()]
    for (const role of ROLES) {
      for (const read_only of [false, true]) {
        const key = await makeKey({ role, read_only, workspaces })
        const permissions = permissionsOf({ role, member_role: null, read_only })
        expect([role, wrong(await statuses({ 'x-api-key': key }), permissions, 403)]).toEqual([role, []])
      }
    }
  })

  it('are required for all routes but the open ones', async () => {
    expect(wrong(await statuses({}), undefined, 401)).toEqual([])
    expect(wrong(await statuses({ 'x-api-key': 'nope' }), undefined, 401)).toEqual([])
  })

  it('must be of its workspace, and need not name it', async () => {
    const { weir } = setup()
    const other = await weir.json<{ id: string }>('/workspaces', { display_name: 'Other' })
    const foreign = await makeKey({ role: 'admin', workspaces: [other.id] })
    expect(wrong(await statuses({ 'x-api-key': foreign }), undefined, 403)).toEqual([])
    const home = await homeWorkspace()
    const admin = permissionsOf({ role: 'admin', member_role: null, read_only: false })
    const everywhere = await makeKey({ role: 'admin' })
    expect(wrong(await statuses({ 'x-api-key': everywhere }), admin, 403)).toEqual([])
    const named = { 'x-api-key': everywhere, 'x-tenant-id': home }
    expect(wrong(await statuses(named), admin, 403)).toEqual([])
    const elsewhere = { 'x-api-key': everywhere, 'x-tenant-id': other.id }
    expect(wrong(await statuses(elsewhere), undefined, 403)).toEqual([])
  })

  it('that only read do not cancel by disconnecting', async () => {
    const { client, weir } = setup()
    const key = await makeKey({ role: 'viewer', workspaces: [await homeWorkspace()] })
    const { thread_id } = await client.threads.create()
    const { run_id } = await client.runs.create(thread_id, 'tokens', { input: { sleep: 600_000 } })
    const path = `${weir.deploymentUrl}/threads/${thread_id}/runs/${run_id}/join`
    const answer = await fetch(`${path}?cancel_on_disconnect=1`, { headers: { 'x-api-key': key } })
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'permission_required' }])
    const left = new AbortController()
    held.push(left)
    const joined = await fetch(path, { headers: { 'x-api-key': key }, signal: left.signal })
    expect(joined.status).toBe(200)
    left.abort()
    await client.runs.cancel(thread_id, run_id, true)
  })
})

/**
 * Commands of protocol v2 with the permissions that they need (V-44). They change nothing, even for a permitted caller.
 */
const COMMANDS: readonly { method: string; params: object; needs: Permission[]; isNew?: true }[] = [
  { method: 'run.start', params: { assistant_id: 'nobody' }, needs: ['threads:update'] },
  {
    method: 'run.start',
    params: { assistant_id: 'nobody' },
    needs: ['threads:update', 'threads:create'],
    isNew: true,
  },
  { method: 'input.respond', params: { interrupt_id: 'x', response: 1 }, needs: ['threads:update'] },
  { method: 'state.fork', params: { checkpoint_id: ID }, needs: ['threads:update'] },
  { method: 'agent.getTree', params: {}, needs: ['threads:read'] },
  { method: 'state.get', params: { namespace: [] }, needs: ['threads:read'] },
  { method: 'state.listCheckpoints', params: {}, needs: ['threads:read'] },
]

const KEYS = [...ROLES.map((role) => [role, false] as const), ['admin', true]] as const

interface CommandAnswer {
  id: number
  error?: string
}

/** The answers to `COMMANDS` over HTTP, and over one socket for each of the two threads. */
async function answersTo(key: string, threads: readonly [known: string, unknown: string]) {
  const asked = threads.map((thread_id, at) => ({
    thread_id,
    commands: COMMANDS.flatMap(({ method, params, isNew = false }, id) =>
      isNew === (at === 1) ? [JSON.stringify({ id, method, params })] : [],
    ),
  }))
  const overHttp = asked.flatMap(({ thread_id, commands }) =>
    commands.map(async (body): Promise<CommandAnswer> => {
      const headers = { 'content-type': 'application/json', 'x-api-key': key }
      const answer = await setup().request(`/threads/${thread_id}/commands`, {
        method: 'POST',
        headers,
        body,
      })
      expect(answer.status).toBe(200)
      return (await answer.json()) as CommandAnswer
    }),
  )
  const overSocket = asked.map(async ({ thread_id, commands }): Promise<CommandAnswer[]> => {
    const socket = connect(thread_id, key)
    await once(socket, 'open')
    const answers: CommandAnswer[] = []
    for (const command of commands) {
      const answered = once(socket, 'message') as Promise<[Buffer]>
      socket.send(command)
      answers.push(JSON.parse(String((await answered)[0])) as CommandAnswer)
    }
    socket.terminate()
    return answers
  })
  return { http: await Promise.all(overHttp), socket: (await Promise.all(overSocket)).flat() }
}

function connect(thread_id: string, key: string | undefined): WebSocket {
  const url = `${setup().url.replace('http', 'ws')}/threads/${thread_id}/stream/events`
  return new WebSocket(url, { headers: key === undefined ? {} : { 'x-api-key': key } })
}

/** A stream of events over SSE. */
async function openStream(key: string | undefined): Promise<{ status: number; leave(): void }> {
  const left = new AbortController()
  held.push(left)
  const { status } = await fetch(`${setup().url}/threads/${ID}/stream/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) },
    body: '{"channels":["lifecycle"]}',
    signal: left.signal,
  })
  return { status, leave: () => left.abort() }
}

/** Status of a stream over SSE, and the code with which a socket is closed. */
async function refusals(key: string | undefined): Promise<[status: number, code: number]> {
  const closed = once(connect(ID, key), 'close') as Promise<[code: number]>
  return [(await openStream(key)).status, (await closed)[0]]
}

describe('V-44: protocol v2', () => {
  it('carries out the commands that the role of the key allows, over HTTP and over sockets', async () => {
    const workspaces = [await homeWorkspace()]
    const { thread_id } = await setup().client.threads.create()
    for (const [role, read_only] of KEYS) {
      const key = await makeKey({ role, read_only, workspaces })
      const permissions = permissionsOf({ role, member_role: null, read_only })
      const denied = COMMANDS.flatMap(({ needs }, id) =>
        needs.every((need) => permissions.has(need)) ? [] : [id],
      )
      const answers = await answersTo(key, [thread_id, crypto.randomUUID()])
      for (const [way, given] of Object.entries(answers)) {
        const refused = given.filter(({ error }) => error === 'permission_denied').map(({ id }) => id)
        expect([role, read_only, way, refused.toSorted((a, b) => a - b)]).toEqual([
          role,
          read_only,
          way,
          denied,
        ])
      }
    }
  })

  it('shows events to a key that only reads', async () => {
    const key = await makeKey({ role: 'viewer', read_only: true, workspaces: [await homeWorkspace()] })
    const { status, leave } = await openStream(key)
    const socket = connect(ID, key)
    await once(socket, 'open')
    const answered = once(socket, 'message') as Promise<[Buffer]>
    socket.send('{"id":1,"method":"subscription.subscribe","params":{"channels":["lifecycle"]}}')
    expect([status, JSON.parse(String((await answered)[0]))]).toMatchObject([200, { type: 'success' }])
    socket.terminate()
    leave()
  })

  it('refuses streams and sockets without a key, and with one of another workspace', async () => {
    const { weir } = setup()
    const other = await weir.json<{ id: string }>('/workspaces', { display_name: 'Another' })
    const foreign = await makeKey({ role: 'admin', workspaces: [other.id] })
    expect(await Promise.all([undefined, 'nope', foreign].map(refusals))).toEqual([
      [401, 4401],
      [401, 4401],
      [403, 4403],
    ])
  })
})
