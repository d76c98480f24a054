import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { inLong } from '../../support/length.ts'
import { API_KEY } from '../../support/servers/server.ts'
import { sharedGraphs } from '../../support/servers/weir-pool.ts'
import { useDeployment } from '../deployments/use-deployment.ts'

// Projects in the style of LangGraph's templates, hosted unchanged.

/** With SHARED_GRAPHS=python-graphs the projects are their twins in Python. */
const IN_PYTHON = sharedGraphs() === 'python-graphs'
const MESSAGES = IN_PYTHON ? { type: 'array' } : { langgraph_type: 'messages' }

function human(content: string): Record<string, unknown> {
  return { messages: [{ role: 'user', content }] }
}

interface Said {
  messages: { type: string; content: string }[]
}

inLong(() => {
  describe('a ReAct agent with tools and zod state', () => {
    const setup = useDeployment('projects/react-agent')

    it('calls its tools and answers, with the settings of its .env and of its context', async () => {
      const { client } = setup()
      const { thread_id } = await client.threads.create()
      const said = (await client.runs.wait(thread_id, 'agent', {
        input: human('How is it in Paris?'),
      })) as object
      const types = (said as Said).messages.map(({ type }) => type)
      expect(types).toEqual(['human', 'ai', 'tool', 'ai'])
      expect(said).toMatchObject({ calls: 1 })
      expect((said as Said).messages.at(-1)?.content).toBe('offline/small says: 21 °C')

      const context = { model: 'offline/large', unit: 'fahrenheit' }
      const again = await client.runs.wait(thread_id, 'agent', { input: human('And in Oslo?'), context })
      expect((again as unknown as Said).messages.at(-1)?.content).toBe('offline/large says: 48.2 °F')
      expect(again).toMatchObject({ calls: 2 })
    })

    it('streams what its tools write', async () => {
      const { client } = setup()
      const looked: unknown[] = []
      const input = human('How is it in Oslo?')
      for await (const { event, data } of client.runs.stream(null, 'agent', {
        input,
        streamMode: ['custom', 'updates'],
      })) {
        if (event === 'custom') looked.push(data)
      }
      expect(looked).toEqual([{ looked_up: 'Oslo' }])
    })

    it('has schemas of its messages and of the settings of its assistants', async () => {
      const schemas = await setup().client.assistants.getSchemas('agent')
      const calls = { type: 'integer' }
      // The Python project accepts only messages as input.
      const input = IN_PYTHON ? {} : { calls: { ...calls, description: 'How many tools were called.' } }
      expect(schemas.input_schema).toMatchObject({
        type: 'object',
        properties: { messages: MESSAGES, ...input },
      })
      expect(schemas.output_schema).toMatchObject({ properties: { messages: MESSAGES, calls } })
      const model = { enum: ['offline/small', 'offline/large'], default: 'offline/small' }
      expect(schemas.context_schema).toMatchObject({ properties: { model } })
    })
  })

  describe('an agent of many files with subgraphs, a store and interrupts', () => {
    const setup = useDeployment('projects/memory-agent')

    it('interrupts for a human, and stores memories of users across threads', async () => {
      const { client } = setup()
      const config = { configurable: { user_id: 'ada' } }
      const first = await client.threads.create()
      await client.runs.wait(first.thread_id, 'assistant', { input: human('Remember tea'), config })

      const { thread_id } = await client.threads.create()
      await client.runs.wait(thread_id, 'assistant', { input: human('Tell me about owls'), config })
      const state = await client.threads.getState(thread_id)
      expect(state.next).toEqual(['review'])
      expect(state.tasks[0]?.interrupts[0]?.value).toEqual({ sources: ['owls 1', 'owls 2'] })

      const command = { resume: { approved: true } }
      const said = await client.runs.wait(thread_id, 'assistant', { command, config })
      expect(said).toMatchObject({ mood: 'good' })
      expect((said as unknown as Said).messages.at(-1)?.content).toBe('owls: 2 sources; I remember: tea')
      const { items } = await client.store.searchItems(['memories', 'ada'])
      expect(items.map(({ value }) => value)).toEqual([{ text: 'tea' }])
    })
  })
})

describe('a portal with users, an HTTP app and UI components', () => {
  const setup = useDeployment('projects/portal')
  const ADA = { authorization: 'Bearer lovelace' }
  const ALAN = { authorization: 'Bearer turing' }

  /**
   * Requests to routes of the project. They are not checked, because the OpenAPI document does not have these routes.
   */
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(setup().url + path, { ...init, headers: { ...ADA, ...(init.headers as object) } })

  const clientOf = (headers: Record<string, string>): Client =>
    new Client({ apiUrl: setup().url, apiKey: null as never, defaultHeaders: headers })

  it('separates users, and refuses other callers', async () => {
    const { thread_id } = await clientOf(ADA).threads.create()
    await expect(clientOf(ALAN).threads.get(thread_id)).rejects.toMatchObject({ status: 404 })
    expect((await fetch(`${setup().url}/portal/me`)).status).toBe(401)
    expect(await (await ask('/portal/me')).json()).toEqual({ user: 'ada' })
    expect(await (await ask('/portal/me', { headers: ALAN })).json()).toEqual({ user: 'alan' })
    // A client cannot set the header that names the authenticated user.
    const forged = Buffer.from('{"user":{"identity":"eve"}}').toString('base64')
    expect(await (await ask('/portal/me', { headers: { 'x-weir-caller': forged } })).json()).toEqual({
      user: 'ada',
    })
  })

  it('has custom routes, which take precedence over those of Weir and can call its graphs', async () => {
    expect(await (await ask('/threads/summary')).json()).toEqual({
      summary: 'of the portal, not of a thread',
    })
    const greeted = (await (await ask('/portal/greet/Grace')).json()) as Said
    expect(greeted.messages.at(-1)?.content).toBe('Hello, Grace')
    const teapot = await ask('/portal/teapot')
    expect([teapot.status, await teapot.text()]).toEqual([418, 'short and stout'])
    expect((await ask('/portal/nowhere')).status).toBe(404)
  })

  inLong(() => {
    it('has middleware for the routes of Weir, which can change headers and responses and refuse requests', async () => {
      const threads = await ask('/threads', {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      })
      expect(threads.status).toBe(200)
      expect(threads.headers.get('x-portal')).toBe('open')
      const closed = await ask('/threads/search?closed', { method: 'POST' })
      expect([closed.status, await closed.json()]).toEqual([418, { status: 'closed' }])
      const client = clientOf(ADA)
      const { thread_id } = await client.threads.create()
      const { run_id } = await client.runs.create(thread_id, 'agent', { input: human('x') })
      const run = (await client.runs.get(thread_id, run_id)) as unknown as { kwargs: { config: object } }
      await client.runs.join(thread_id, run_id)
      // The middleware applies to paths below /runs/; this run was created at /runs.
      expect(run.kwargs.config).toMatchObject({ configurable: { 'x-page': 'portal of agent' } })
      expect((await fetch(`${setup().url}/ok`)).headers.get('x-portal')).toBeNull()
    })

    it('HOOK-9: receives webhooks of runs, which clients cannot forge', async () => {
      const client = clientOf(ADA)
      const { thread_id } = await client.threads.create()
      const webhook = '/portal/told'
      const headers = { 'content-type': 'application/json', 'x-weir-webhook': 'run' }
      await ask(webhook, { method: 'POST', headers, body: '{}' })
      expect(await (await ask(webhook)).json()).toEqual({ by: 'a client' })
      await client.runs.wait(thread_id, 'agent', { input: human('x'), webhook })
      await eventually(async () => {
        expect(await (await ask(webhook)).json()).toMatchObject({ by: 'run', thread_id, status: 'success' })
      })
      const refused = client.runs.create(thread_id, 'agent', { input: human('x'), webhook: '//example.com/' })
      await expect(refused).rejects.toMatchObject({ status: 422 })
    })

    it('streams in both directions, and its request aborts when the client disconnects', async () => {
      expect(await (await ask('/portal/count?to=4')).text()).toBe('1\n2\n3\n4\n')
      const size = 24 << 20
      const upload = await ask('/portal/upload', { method: 'POST', body: new Uint8Array(size) })
      expect(await upload.json()).toEqual({ bytes: size })
      const abort = new AbortController()
      const endless = await ask('/portal/endless', { signal: abort.signal })
      await endless.body?.getReader().read()
      abort.abort()
      await eventually(async () => {
        expect(await (await ask('/portal/left')).json()).toEqual({ left: 1 })
      })
    })

    it("creates files with the user's umask, not with the stricter one of the server", async () => {
      expect(await (await ask('/portal/umask')).json()).toEqual({ umask: process.umask() })
    })

    it('streams runs through its middleware to SDKs', async () => {
      const events: string[] = []
      for await (const { event } of clientOf(ADA).runs.stream(null, 'agent', {
        input: human('x'),
        streamMode: ['values', 'custom'],
      }))
        events.push(event)
      expect(events).toEqual(['metadata', 'values', 'custom', 'values'])
    })

    it('answers preflight requests, and refuses WebSockets with a code', async () => {
      const origin = 'https://portal.example.com'
      const headers = { origin, 'access-control-request-method': 'GET', authorization: '' }
      const preflight = await ask('/portal/me', { method: 'OPTIONS', headers })
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
      const answer = await upgrade(`${setup().url}/portal/me`)
      expect(answer).toEqual([400, expect.objectContaining({ code: 'websockets_unsupported' })])
    })

    it('answers with a code when its process ends, and is restarted', async () => {
      const ended = await ask('/portal/exit')
      expect([ended.status, await ended.json()]).toEqual([
        502,
        expect.objectContaining({ code: 'app_failed' }),
      ])
      await eventually(async () => expect((await ask('/portal/me')).status).toBe(200))
    })
  })

  it('serves UI components, bundled with their styles', async () => {
    const { request } = setup()
    const said = await clientOf(ADA).runs.wait(null, 'agent', { input: human('Grace') })
    expect(said).toMatchObject({ ui: [{ type: 'ui', name: 'greeting', props: { name: 'Grace' } }] })
    const headers = { ...ADA, 'content-type': 'application/json' }
    const show = (graph: string, name: string): Promise<Response> =>
      request(`/ui/${graph}`, { method: 'POST', headers, body: JSON.stringify({ name }) })
    const page = await show('agent', `it's <b>&"`)
    const html = await page.text()
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(html).toContain(
      String.raw`onload='__LGUI_agent.render("it\u0027s \u003cb\u003e\u0026\"", "{{shadowRootId}}")'></script>`,
    )
    const [style = '', script = ''] = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url)
    // Browsers load these without a key.
    const css = await fetch(style)
    expect([css.headers.get('content-type'), await css.text()]).toEqual([
      expect.stringContaining('text/css'),
      expect.stringContaining('rebeccapurple'),
    ])
    const js = await (await fetch(script)).text()
    expect(js).toContain('__LGUI_agent')
    expect(js).toContain('LGUI_REQUIRE')
    expect((await fetch(script.replace(/[^/]+$/, 'other.js'))).status).toBe(404)
    expect((await show('other', 'greeting')).status).toBe(404)
  })

  inLong(() => {
    it('accepts a key of Weir too', async () => {
      expect(
        (await fetch(`${setup().url}/threads/search`, { method: 'POST', headers: { 'x-api-key': API_KEY } }))
          .status,
      ).toBe(200)
    })
  })
})

/** Status and body of the response to a WebSocket request. */
async function upgrade(url: string): Promise<[status: number | undefined, body: unknown]> {
  const { request } = await import('node:http')
  const { promise, resolve, reject } = Promise.withResolvers<[number | undefined, unknown]>()
  const headers = { authorization: 'Bearer lovelace', connection: 'Upgrade', upgrade: 'websocket' }
  request(url, { headers }, (answer) => {
    let text = ''
    answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    answer.on('end', () => resolve([answer.statusCode, JSON.parse(text)]))
  })
    .once('error', reject)
    .end()
  return promise
}
