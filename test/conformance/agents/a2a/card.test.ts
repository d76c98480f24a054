import { describe, expect, it } from 'vitest'
import { useAgents } from './agents.ts'

const { setup, ids } = useAgents()

describe('the card', () => {
  it('A2A-1: is the same at its four addresses, by id or name of the graph, with an ETag', async () => {
    const { request, url } = setup()
    const id = ids.get('talking')
    const paths = [
      `/.well-known/agent-card.json?assistant_id=${id}`,
      `/a2a/${id}`,
      `/a2a/${id}/.well-known/agent-card.json`,
      `/a2a/${id}/.well-known/agent.json`,
      '/a2a/talking',
    ]
    const cards = await Promise.all(paths.map(async (path) => await (await request(path)).json()))
    for (const card of cards) expect(card).toEqual(cards[0])
    expect(cards[0]).toMatchObject({
      name: 'talking',
      url: `${url}/a2a/${id}`,
      protocolVersion: '0.3.0',
      supportedInterfaces: [
        { url: `${url}/a2a/${id}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true, pushNotifications: false },
      defaultInputModes: ['application/json', 'text/plain'],
      security: [{ key: [] }],
      skills: [{ id: `${id}-main` }],
    })
    const first = await request(`/a2a/${id}`)
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('cache-control')).toContain('max-age')
    expect((await request(`/a2a/${id}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })

  it('A2A-1: names modes of the metadata; a missing or unknown assistant is an error', async () => {
    const { client, request } = setup()
    const metadata = { a2a: { input_modes: ['text/plain'], output_modes: ['image/png'] } }
    const { assistant_id } = await client.assistants.create({ graphId: 'echo', metadata })
    expect(await (await request(`/a2a/${assistant_id}`)).json()).toMatchObject({
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['image/png'],
    })
    const missing = await request('/.well-known/agent-card.json')
    expect([missing.status, await missing.json()]).toMatchObject([400, { error: { code: -32602 } }])
    expect((await request(`/a2a/${crypto.randomUUID()}`)).status).toBe(404)
  })

  it('A2A-1: needs a key', async () => {
    expect((await fetch(`${setup().url}/a2a/talking`)).status).toBe(401)
  })
})
