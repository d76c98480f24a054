import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { newUuid } from '../../src/base/ids.ts'
import { readEvents } from '../../src/base/text/event-stream.ts'
import { REPLY, TOOL_CALL } from '../instrumentations/vendor/call.ts'
import { type MeteredVendor, startMeteredVendor } from '../instrumentations/vendor/metered-vendor.ts'
import { eventually } from '../support/eventually.ts'
import { drained } from '../support/servers/server.ts'
import { startHeldVendor } from '../support/servers/vendors/held-vendor.ts'
import { useClientSetup } from './langsmith/js/client-setup.ts'
import { firstInShort, inLong } from '../support/length.ts'

const setup = useClientSetup()
let vendor: MeteredVendor
beforeAll(async () => {
  vendor = await startMeteredVendor()
})
afterAll(() => vendor.stop())

/** Sends a request through the proxy, which compares every answer with the OpenAPI document. */
function request(
  path: string,
  body?: unknown,
  method = body === undefined ? 'GET' : 'POST',
): Promise<Response> {
  return setup().weir.request(`${setup().proxy.url}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const host = (): string => new URL(vendor.url).host
const SECRET = 'sk-fake-0123456789'

async function putSecret(key: string, hosts = [host()]): Promise<void> {
  expect((await request(`/workspaces/current/secrets/${key}`, { value: SECRET, hosts }, 'PUT')).status).toBe(
    204,
  )
}

interface Sent {
  event: string
  data: Record<string, unknown>
}

async function eventsOf(body: object): Promise<Sent[]> {
  const answer = await request('/playground/runs', body)
  expect(answer.status).toBe(200)
  const events: Sent[] = []
  for await (const { event, data } of readEvents(answer.body as unknown as AsyncIterable<Uint8Array>))
    events.push({ event, data: JSON.parse(data) as Record<string, unknown> })
  return events
}

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] })
const CALLS = {
  openai: { secret: 'OPENAI_API_KEY', path: '/v1', model: 'gpt-4o-mini' },
  anthropic: { secret: 'ANTHROPIC_API_KEY', path: '', model: 'claude-3-5-haiku-20241022' },
  google: { secret: 'GOOGLE_API_KEY', path: '/v1beta', model: 'gemini-2.0-flash' },
  'openai-compatible': { secret: 'LOCAL_KEY', path: '/v1', model: 'llama3.2' },
} as const
type Name = keyof typeof CALLS

function callOf(provider: Name, more: object = {}): object {
  const { secret, path, model } = CALLS[provider]
  return { provider, model, secret, base_url: vendor.url + path, messages: [user('hi')], ...more }
}

interface Read {
  session_id: string
  status: string
  error: string | null
  extra: { metadata: Record<string, unknown> }
  prompt_tokens: number
  completion_tokens: number
  total_cost: string | null
  first_token_time: string | null
  llm: { checks: Record<string, { ok: boolean }>; messages?: unknown }
}

async function tracedRun(events: readonly Sent[]): Promise<Read> {
  const id = String(events[0]?.data['run_id'])
  await drained(setup().weir)
  return await eventually(async () => {
    const answer = await request(`/runs/${id}`)
    expect(answer.status).toBe(200)
    const run = (await answer.json()) as Read
    expect(run.status).not.toBe('pending')
    return run
  })
}

describe('the playground (N15)', () => {
  it.each(firstInShort(Object.keys(CALLS) as Name[]))(
    'streams an answer of %s and stores the call as a trace',
    async (name) => {
      await putSecret(CALLS[name].secret)
      const source_run_id = newUuid()
      const events = await eventsOf(callOf(name, { source_run_id }))
      const [bill] = vendor.take()
      expect(events.map(({ event }) => event).filter((event, i, all) => event !== all[i - 1])).toEqual([
        'run',
        'delta',
        'usage',
        'end',
      ])
      const texts = events.filter(({ event, data }) => event === 'delta' && data['type'] === 'text')
      expect(texts.length).toBeGreaterThan(1)
      expect(texts.map(({ data }) => data['text']).join('')).toBe(REPLY)
      expect(events.at(-1)?.data).toMatchObject({ first_token_ms: expect.any(Number) })
      const run = await tracedRun(events)
      expect(run).toMatchObject({ status: 'success', error: null })
      expect(run.extra.metadata).toMatchObject({ ls_model_name: CALLS[name].model, source_run_id })
      expect([run.prompt_tokens, run.completion_tokens]).toEqual([bill?.input, bill?.output])
      expect(Object.values(run.llm.checks).map(({ ok }) => ok)).toEqual([true, true, true, true])
      expect(run.first_token_time).not.toBeNull()
      // A model on the user's own server has no published price.
      expect(run.total_cost === null).toBe(name === 'openai-compatible')
    },
  )

  inLong(() => {
    it.each(firstInShort(['openai', 'anthropic', 'google'] as const))(
      'returns the tool call of %s whole',
      async (name) => {
        await putSecret(CALLS[name].secret)
        const tools = [
          { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
        ]
        const events = await eventsOf(callOf(name, { tools }))
        const { message } = events.at(-1)!.data as { message: { content: Record<string, unknown>[] } }
        expect(message.content.at(-1)).toMatchObject({ type: 'tool_call', ...TOOL_CALL })
        const { id } = message.content.at(-1) as { id?: string }
        const result = {
          role: 'tool',
          tool_call_id: id ?? 'call',
          content: [{ type: 'text', text: '18 degrees' }],
        }
        const asked = [user('weather?'), { ...message, role: 'assistant' }, result]
        const next = await eventsOf(callOf(name, { tools, messages: asked }))
        expect(JSON.stringify(next.at(-1)?.data['message'])).toContain('18 degrees and sunny')
        vendor.take()
      },
    )
  })

  it('reports what the provider refused, without the secret, and marks the trace', async () => {
    await putSecret('OPENAI_API_KEY')
    const events = await eventsOf(callOf('openai', { model: 'broken' }))
    vendor.take()
    expect(events.map(({ event }) => event)).toEqual(['run', 'error', 'end'])
    expect(events[1]?.data).toEqual({
      code: 'provider_failed',
      detail: 'The provider answered with status 400: this model is broken',
      status: 400,
    })
    const run = await tracedRun(events)
    expect(run).toMatchObject({ status: 'error', prompt_tokens: 0, completion_tokens: 0 })
  })

  it('sends a secret to its own hosts only', async () => {
    await putSecret('BOUND_KEY', ['api.openai.com', '127.0.0.1:1'])
    const refused = await request('/playground/runs', callOf('openai', { secret: 'BOUND_KEY' }))
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'host_not_allowed' })
    const missing = await request('/playground/runs', callOf('openai', { secret: 'NO_SUCH_KEY' }))
    expect(missing.status).toBe(409)
    expect(await missing.json()).toMatchObject({ code: 'secret_missing' })
    expect(vendor.take()).toEqual([])
  })

  inLong(() => {
    it('lists secrets without their values, and records changes of them in the audit', async () => {
      await putSecret('LISTED_KEY')
      const rewritten = [{ key: 'LISTED_KEY', value: 'another-value' }]
      const list = await request('/workspaces/current/secrets', rewritten)
      const text = await list.text()
      expect(JSON.parse(text)).toContainEqual(expect.objectContaining({ key: 'LISTED_KEY', hosts: [host()] }))
      expect(text).not.toContain('another-value')
      const models = (await (await request('/playground/models')).json()) as {
        providers: { name: string; has_secret: boolean; models: string[] }[]
      }
      expect(models.providers.map(({ name }) => name)).toEqual(Object.keys(CALLS))
      expect(models.providers[0]?.models).toContain('gpt-4o-mini')
      const deleted = await request('/workspaces/current/secrets', [{ key: 'LISTED_KEY', value: null }])
      expect(await deleted.text()).not.toContain('LISTED_KEY')
      const audit = await (await request('/orgs/current/audit-logs?action=secret')).text()
      for (const change of ['secret.create', 'secret.update', 'secret.delete'])
        expect(audit).toContain(change)
      expect(audit).not.toContain('another-value')
    })

    it('sends pictures and texts of many megabytes', async () => {
      await Promise.all([putSecret('ANTHROPIC_API_KEY'), putSecret('OPENAI_API_KEY')])
      const picture = (bytes: number) => ({
        type: 'image',
        mime_type: 'image/png',
        base64: 'A'.repeat(bytes),
      })
      const asking = (bytes: number) =>
        callOf('anthropic', { messages: [{ role: 'user', content: [picture(bytes)] }] })
      const events = await eventsOf(asking(12_000_000))
      expect(events.at(-1)?.event).toBe('end')
      expect(vendor.take()).toHaveLength(1)
      const run = await tracedRun(events)
      expect(run.status).toBe('success')
      expect(JSON.stringify(run).length).toBeGreaterThan(12_000_000)
      const long = callOf('openai', { messages: [user('long '.repeat(500_000))] })
      expect((await eventsOf(long)).at(-1)?.event).toBe('end')
      vendor.take()
    })

    it('writes a list of secrets all or not at all', async () => {
      const list = [
        { key: 'LIST_A', value: 'v', hosts: [host()] },
        { key: 'LIST_B', value: 'v' },
      ]
      expect((await request('/workspaces/current/secrets', list)).status).toBe(422)
      expect(await (await request('/workspaces/current/secrets')).text()).not.toContain('LIST_A')
    })
  })

  it('refuses a secret without hosts, and content that a provider cannot take', async () => {
    const unbound = await request('/workspaces/current/secrets/UNBOUND', { value: 'v' }, 'PUT')
    expect(unbound.status).toBe(422)
    await putSecret('ANTHROPIC_API_KEY')
    const video = { role: 'user', content: [{ type: 'video', url: 'https://x.example/v.mp4' }] }
    const refused = await request('/playground/runs', callOf('anthropic', { messages: [video] }))
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({
      detail: [{ loc: ['body', 'messages', 0, 'content', 0] }],
    })
  })

  it('ends a call whose client leaves, and stores what arrived', async () => {
    // The vendor does not end its answer before the client has disconnected.
    const held = await startHeldVendor()
    onTestFinished(() => held.stop())
    await putSecret('OPENAI_API_KEY', [new URL(held.url).host])
    const leaving = new AbortController()
    const answer = await fetch(`${setup().weir.url}/api/v1/playground/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': setup().weir.key },
      body: JSON.stringify(callOf('openai', { base_url: held.url })),
      signal: leaving.signal,
    })
    const first = await answer.body!.getReader().read()
    leaving.abort()
    const [, data = '{}'] = /data: (.*)/.exec(new TextDecoder().decode(first.value)) ?? []
    const run = await tracedRun([{ event: 'run', data: JSON.parse(data) as Record<string, unknown> }])
    expect(run).toMatchObject({ status: 'error', error: 'The call was cancelled.' })
  })
})
