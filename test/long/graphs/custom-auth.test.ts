import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { API_KEY, startWeir, type WeirProcess } from '../../support/servers/server.ts'
import { twinOf } from '../../support/servers/weir-pool.ts'
import { framesOf } from '../../support/runs/streams/sse-frames.ts'
import { refusal } from '../../conformance/deployments/use-deployment.ts'

const GRAPHS = fileURLToPath(
  new URL(`../../fixtures/${twinOf('auth-graphs')}/langgraph.json`, import.meta.url),
)
const WHO = 'whoami'

let weir: WeirProcess
let url: string

beforeAll(async () => {
  weir = await startWeir({ GRAPHS, DEPLOYMENT_NAME: 'auth', DEPLOYMENT_PORT: '0' })
  url = new URL('/deployments/auth', weir.url).href
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
})

function clientOf(name: string): Client {
  return new Client({
    apiUrl: url,
    apiKey: null,
    defaultHeaders: { authorization: `Bearer user-${name}` },
    callerOptions: { maxRetries: 0 },
  })
}

function asUser(name: string): { authorization: string } {
  return { authorization: `Bearer user-${name}` }
}

function request(path: string, headers: Record<string, string>, body?: object): Promise<Response> {
  const json = { method: 'POST', body: JSON.stringify(body) }
  return fetch(`${url}${path}`, {
    ...(body !== undefined && json),
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** Alice has a thread with a running run. Bob must not be able to read or change either. */
async function aliceAtWork() {
  const alice = clientOf('alice')
  const thread = await alice.threads.create()
  const run = await alice.runs.create(thread.thread_id, WHO, { input: { wait: true } })
  return { alice, bob: clientOf('bob'), thread_id: thread.thread_id, run_id: run.run_id }
}

describe('the caller', () => {
  it('AUTH-4: is the user that the auth file returns, and graphs get that user', async () => {
    const alice = clientOf('alice')
    const { thread_id } = await alice.threads.create()
    const values = await alice.runs.wait(thread_id, WHO, {
      input: {},
      config: { configurable: { langgraph_auth_user: { identity: 'root' }, langgraph_auth_user_id: 'root' } },
    })
    expect(values).toMatchObject({
      user: { identity: 'alice', permissions: ['chat'], is_authenticated: true, display_name: 'alice' },
      id: 'alice',
      permissions: ['chat'],
    })
    expect(values).toMatchObject({ user: { path: `/threads/${thread_id}/runs/wait`, secret: 'told' } })
  })

  it('streams as that user', async () => {
    const alice = clientOf('alice')
    const { thread_id } = await alice.threads.create()
    const seen: unknown[] = []
    for await (const { event, data } of alice.runs.stream(thread_id, WHO, { input: {} })) {
      if (event === 'values') seen.push((data as { id?: string }).id)
    }
    expect(seen.at(-1)).toBe('alice')
    const bobs = clientOf('bob').runs.stream(thread_id, WHO, { input: {} })
    expect(await refusal(bobs.next())).toMatchObject({ status: 404 })
  })

  it('does not give the file the environment of the server', async () => {
    const values = await clientOf('alice').runs.wait(null, WHO, { input: {} })
    const { environment } = (values as { user: { environment: string[] } }).user
    expect(environment).toContain('GRAPH_SECRET')
    expect(environment).not.toContain('BOOTSTRAP_API_KEY')
    expect(environment).not.toContain('DATA_DIR')
  })

  it('AUTH-1: without a token, or with a wrong one, is refused', async () => {
    const wrong: Record<string, string>[] = [
      {},
      { authorization: 'Bearer nobody' },
      { 'x-api-key': 'not_a_key_0123456789' },
    ]
    for (const headers of wrong) {
      const answer = await request('/threads', headers, {})
      expect([answer.status, await answer.json()]).toEqual([
        401,
        { detail: 'Who are you?', code: 'unauthorized' },
      ])
    }
  })

  it('AUTH-2: may be the holder of a key, who can read everything', async () => {
    const { thread_id } = await clientOf('alice').threads.create()
    const admin = new Client({ apiUrl: url, apiKey: API_KEY })
    expect((await admin.threads.get(thread_id)).metadata).toMatchObject({ owner: 'alice' })
    expect(await admin.runs.wait(thread_id, WHO, { input: {} })).toMatchObject({ user: null })
  })

  it('is the user if a request has a key as well: a proxy does not make its users admins', async () => {
    const { thread_id } = await clientOf('alice').threads.create()
    const headers = { 'x-api-key': API_KEY, authorization: 'Bearer user-bob' }
    expect((await request(`/threads/${thread_id}`, headers)).status).toBe(404)
  })

  it('AUTH-3: is the user of Studio only with a key', async () => {
    const studio = { 'x-auth-scheme': 'langsmith' }
    expect((await request('/threads/search', studio, {})).status).toBe(401)
    expect(
      (await request('/threads/search', { ...studio, 'x-api-key': 'wrong_key_0123456789' }, {})).status,
    ).toBe(401)
    const { thread_id } = await clientOf('alice').threads.create()
    const headers = { ...studio, 'x-api-key': API_KEY }
    expect((await request(`/threads/${thread_id}`, headers)).status).toBe(404)
    const made = (await (await request('/threads', headers, {})).json()) as { metadata: object }
    expect(made.metadata).toEqual({ owner: 'langgraph-studio-user' })
  })

  it('may do in Studio what the key may, and no more', async () => {
    const made = await weir.json<{ key: string }>('/orgs/current/service-keys', {
      role: 'viewer',
      description: 'test',
      default_workspace_id: null,
    })
    const headers = { 'x-auth-scheme': 'langsmith', 'x-api-key': made.key }
    expect((await request('/threads/search', headers, {})).status).toBe(200)
    expect((await request('/threads', headers, {})).status).toBe(403)
  })

  it('may use open routes, and none of the organization', async () => {
    for (const path of ['/ok', '/info', '/openapi.json']) expect((await request(path, {})).status).toBe(200)
    expect((await request('/metrics', { authorization: 'Bearer user-alice' })).status).toBe(403)
  })
})

describe('the runs of all threads', () => {
  it('are listed for a key, and for no user, also not in Studio', async () => {
    const { alice, thread_id, run_id } = await aliceAtWork()
    const search = (headers: Record<string, string>) =>
      request('/runs/search', headers, { select: ['run_id'], limit: 1000 })
    for (const headers of [asUser('bob'), asUser('alice'), { ...asUser('bob'), 'x-api-key': API_KEY }])
      expect(await (await search(headers)).json()).toMatchObject({ code: 'forbidden' })
    expect((await search({ 'x-auth-scheme': 'langsmith', 'x-api-key': API_KEY })).status).toBe(403)
    const found = await search({ 'x-api-key': API_KEY })
    expect([found.status, await found.json()]).toEqual([200, expect.arrayContaining([{ run_id }])])
    await alice.runs.cancel(thread_id, run_id, true)
  })
})

describe("another user's thread", () => {
  it('AUTH-5: is not visible', async () => {
    const { alice, bob, thread_id, run_id } = await aliceAtWork()
    expect((await bob.threads.search({ limit: 1000 })).map((one) => one.metadata?.['owner'])).not.toContain(
      'alice',
    )
    expect(await bob.threads.search({ ids: [thread_id] })).toEqual([])
    expect(await bob.threads.search({ metadata: { owner: 'alice' } })).toEqual([])
    expect(await bob.threads.count({ status: 'busy' })).toBe(0)
    expect(await alice.threads.count({ status: 'busy' })).toBeGreaterThan(0)
    const attempts = [
      () => bob.threads.get(thread_id),
      () => bob.threads.update(thread_id, { metadata: { owner: 'bob' } }),
      () => bob.threads.delete(thread_id),
      () => bob.threads.copy(thread_id),
      () => bob.threads.getState(thread_id),
      () => bob.threads.getHistory(thread_id),
      () => bob.threads.updateState(thread_id, { values: { user: 'bob' } }),
      () => bob.runs.list(thread_id),
      () => bob.runs.get(thread_id, run_id),
      () => bob.runs.join(thread_id, run_id),
      () => bob.runs.delete(thread_id, run_id),
      () => bob.runs.create(thread_id, WHO, { input: {} }),
      () =>
        bob.runs.create(thread_id, WHO, { input: {}, ifNotExists: 'create', multitaskStrategy: 'rollback' }),
      () => bob.runs.wait(thread_id, WHO, { input: {} }),
      () => bob.runs.cancel(thread_id, run_id),
      () => bob.crons.createForThread(thread_id, WHO, { schedule: '0 0 1 1 *' }),
    ]
    for (const attempt of attempts)
      expect(await refusal(attempt())).toMatchObject({ status: 404, code: 'not_found' })
    for (const path of [
      `/threads/${thread_id}/stream`,
      `/threads/${thread_id}/runs/${run_id}/stream`,
      `/runs/${run_id}/stream`,
      `/runs/${run_id}/join`,
      `/threads/${thread_id}/runs/${run_id}/join?cancel_on_disconnect=true`,
    ]) {
      expect((await request(path, { authorization: 'Bearer user-bob' })).status).toBe(404)
    }
    expect((await alice.runs.get(thread_id, run_id)).status).toBe('running')
    expect((await alice.threads.get(thread_id)).metadata).toMatchObject({ owner: 'alice' })
    await alice.runs.cancel(thread_id, run_id, true)
  })

  it('cannot be used by its ids: neither by a new thread nor by a new run', async () => {
    const { alice, bob, thread_id, run_id } = await aliceAtWork()
    for (const ifExists of ['raise', 'do_nothing'] as const) {
      expect(await refusal(bob.threads.create({ threadId: thread_id, ifExists }))).toMatchObject({
        status: 409,
      })
    }
    const bobs = { authorization: 'Bearer user-bob' }
    const same = await request(`/threads/${thread_id}/runs`, bobs, { assistant_id: WHO, run_id })
    expect(same.status).toBe(404)
    const pruned = await request('/threads/prune', bobs, { thread_ids: [thread_id], strategy: 'delete' })
    expect(await pruned.json()).toEqual({ pruned_count: 0 })
    await alice.runs.cancel(thread_id, run_id, true)
  })

  it('AUTH-7: keeps its runs when others cancel, by id and by status', async () => {
    const { alice, bob, thread_id, run_id } = await aliceAtWork()
    const bobs = await bob.threads.create()
    const run = await bob.runs.create(bobs.thread_id, WHO, { input: { wait: true } })
    await refusal(bob.runs.cancelMany({ threadId: thread_id, runIds: [run_id] }))
    const early = `/threads/${thread_id}/runs/${randomUUID()}/cancel?early=true`
    expect((await request(early, { authorization: 'Bearer user-bob' }, {})).status).toBe(404)
    await bob.runs.cancelMany({ status: 'all' })
    await eventually(async () => {
      expect((await bob.runs.get(bobs.thread_id, run.run_id)).status).toBe('interrupted')
    })
    expect((await alice.runs.get(thread_id, run_id)).status).toBe('running')
    await alice.runs.cancelMany({ status: 'all' })
    await eventually(async () => {
      expect((await alice.runs.get(thread_id, run_id)).status).toBe('interrupted')
    })
  })

  it('AUTH-6: cannot be taken over by user ids in a request', async () => {
    const alice = clientOf('alice')
    const made = await alice.threads.create({ metadata: { owner: 'bob' } })
    expect(made.metadata).toMatchObject({ owner: 'alice' })
    const bob = clientOf('bob')
    const id = randomUUID()
    await bob.runs.wait(id, WHO, { input: {}, ifNotExists: 'create', metadata: { owner: 'alice' } })
    expect((await bob.threads.get(id)).metadata).toMatchObject({ owner: 'bob' })
  })
})

describe('stateless runs', () => {
  it('are visible to their user only while they last, and so is what they keep', async () => {
    const alice = clientOf('alice')
    const bob = clientOf('bob')
    const run = await alice.runs.create(null, WHO, { input: { wait: true } })
    expect(await refusal(bob.runs.get(run.thread_id, run.run_id))).toMatchObject({ status: 404 })
    expect(await refusal(bob.runs.cancel(run.thread_id, run.run_id))).toMatchObject({ status: 404 })
    await alice.runs.cancel(run.thread_id, run.run_id, true)
    const kept = { assistant_id: WHO, input: {}, on_completion: 'keep' }
    const asAlice = { authorization: 'Bearer user-alice' }
    const mine = (await (await request('/runs', asAlice, kept)).json()) as { thread_id: string }
    expect((await alice.threads.get(mine.thread_id)).metadata).toMatchObject({ owner: 'alice' })
    const batch = await request('/runs/batch', { authorization: 'Bearer user-bob' }, [kept, kept])
    const made = (await batch.json()) as { thread_id: string }[]
    expect(made).toHaveLength(2)
    for (const { thread_id } of made) {
      expect(await refusal(alice.threads.get(thread_id))).toMatchObject({ status: 404 })
      expect((await bob.threads.get(thread_id)).metadata).toMatchObject({ owner: 'bob' })
    }
  })

  it('can be resumed after their end by their creator, and by no other user', async () => {
    const stream = await request('/runs/stream', asUser('alice'), { assistant_id: WHO, input: {} })
    const location = stream.headers.get('location') ?? ''
    const whole = framesOf(await stream.text())
    await eventually(async () => {
      const place = stream.headers.get('content-location') ?? ''
      expect((await request(place, asUser('alice'))).status).toBe(404)
    })
    const again = await request(location, { ...asUser('alice'), 'last-event-id': whole[0]?.id ?? '' })
    expect([again.status, framesOf(await again.text())]).toEqual([200, whole.slice(1)])
    expect((await request(location, asUser('bob'))).status).toBe(404)
  })
})

describe('assistants', () => {
  it('AUTH-8: are read, changed and run by those to whom the filter shows them', async () => {
    const alice = clientOf('alice')
    const bob = clientOf('bob')
    const config = { configurable: { token: 'secret' } }
    const { assistant_id } = await alice.assistants.create({ graphId: WHO, config, name: 'mine' })
    expect((await alice.assistants.search({ name: 'mine' })).map((one) => one.assistant_id)).toEqual([
      assistant_id,
    ])
    expect(await bob.assistants.search({ name: 'mine' })).toEqual([])
    expect(await bob.assistants.count({ name: 'mine' })).toBe(0)
    for (const attempt of [
      () => bob.assistants.get(assistant_id),
      () => bob.assistants.getGraph(assistant_id),
      () => bob.assistants.getSchemas(assistant_id),
      () => bob.assistants.getVersions(assistant_id),
      () => bob.assistants.update(assistant_id, { name: 'his' }),
      () => bob.assistants.setLatest(assistant_id, 1),
      () => bob.runs.create(null, assistant_id, { input: {} }),
      () => bob.crons.create(assistant_id, { schedule: '0 0 1 1 *' }),
    ]) {
      expect(await refusal(attempt())).toMatchObject({ status: 404 })
    }
    const taken = bob.assistants.create({ graphId: WHO, assistantId: assistant_id, ifExists: 'do_nothing' })
    expect(await refusal(taken)).toMatchObject({ status: 409 })
    expect(await alice.runs.wait(null, assistant_id, { input: {} })).toMatchObject({ id: 'alice' })
  })

  it('are refused if a handler returns false', async () => {
    const alice = clientOf('alice')
    const { assistant_id } = await alice.assistants.create({ graphId: WHO })
    expect(await refusal(alice.assistants.delete(assistant_id))).toMatchObject({
      status: 403,
      code: 'forbidden',
    })
    expect((await alice.assistants.get(assistant_id)).assistant_id).toBe(assistant_id)
  })
})

describe('crons', () => {
  it("AUTH-9: belong to their user, and run in the user's name", async () => {
    const alice = clientOf('alice')
    const bob = clientOf('bob')
    const { thread_id } = await alice.threads.create()
    const cron = await alice.crons.createForThread(thread_id, WHO, { schedule: '* * * * * *', input: {} })
    const { cron_id } = cron as unknown as { cron_id: string }
    const search = { limit: 100, offset: 0 }
    expect((await alice.crons.search(search)).map((one) => one.cron_id)).toContain(cron_id)
    expect((await bob.crons.search(search)).map((one) => one.cron_id)).not.toContain(cron_id)
    expect(await refusal(bob.crons.delete(cron_id))).toMatchObject({ status: 404 })
    expect(await refusal(bob.crons.update(cron_id, { schedule: '0 0 1 1 *' }))).toMatchObject({ status: 404 })
    await eventually(async () => {
      expect((await alice.threads.get(thread_id)).values).toMatchObject({ id: 'alice' })
    })
    await alice.crons.delete(cron_id)
  })
})

describe('the store', () => {
  it('AUTH-10: keeps users to the namespaces that handlers allow', async () => {
    const alice = clientOf('alice')
    const bob = clientOf('bob')
    await alice.store.putItem(['alice', 'notes'], 'k', { text: 'hers' })
    await alice.store.putItem(['shared', 'notes'], 'k', { text: 'ours' })
    for (const attempt of [
      () => bob.store.getItem(['alice', 'notes'], 'k'),
      () => bob.store.putItem(['alice', 'notes'], 'k', { text: 'his' }),
      () => bob.store.deleteItem(['alice', 'notes'], 'k'),
      () => bob.store.searchItems(['alice']),
      () => bob.store.searchItems([]),
      () => bob.store.listNamespaces({ prefix: ['alice'] }),
      () => bob.store.listNamespaces(),
    ]) {
      expect(await refusal(attempt())).toMatchObject({ status: 403, code: 'forbidden' })
    }
    expect((await bob.store.getItem(['shared', 'notes'], 'k'))?.value).toEqual({ text: 'ours' })
    expect((await bob.store.searchItems(['shared'])).items).toHaveLength(1)
    expect(await bob.store.listNamespaces({ prefix: ['shared'] })).toEqual({
      namespaces: [['shared', 'notes']],
    })
    expect((await alice.store.getItem(['alice', 'notes'], 'k'))?.value).toEqual({ text: 'hers' })
  })
})

describe('an auth file that fails', () => {
  const asAlice = { authorization: 'Bearer user-alice' }

  it('returns a code of its own, and accepts no request', async () => {
    const doing = async (what: string): Promise<[number, string]> => {
      const answer = await request(
        '/threads/search',
        { ...asAlice, 'x-auth-do': what, 'x-api-key': API_KEY },
        {},
      )
      return [answer.status, ((await answer.json()) as { code: string }).code]
    }
    expect(await doing('teapot')).toEqual([403, 'forbidden'])
    expect(await doing('exit')).toEqual([503, 'auth_unavailable'])
    await eventually(async () => expect((await request('/threads/search', asAlice, {})).status).toBe(200))
  })
})
