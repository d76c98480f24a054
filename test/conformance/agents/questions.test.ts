import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { useDeployment } from '../deployments/use-deployment.ts'

const setup = useDeployment('protocol-v2')

type Answer =
  | { action: 'accept'; content: Record<string, string> }
  | { action: 'decline' }
  | { action: 'cancel' }

/** The user of a client; `seen` are the forms that it was shown. */
function user(answers: readonly Answer[]) {
  const seen: unknown[] = []
  const left = [...answers]
  return {
    seen,
    answer: async ({ params }: { params: unknown }): Promise<Answer> => {
      seen.push(params)
      return left.shift() ?? { action: 'cancel' }
    },
  }
}

type User = ReturnType<typeof user>

beforeAll(async () => {
  // The setup checks that some response fits the document.
  expect((await setup().request('/info')).status).toBe(200)
})

const transportOf = <T>(made: new (url: URL, options: object) => T): T =>
  new made(new URL(`${setup().url}/mcp`), { requestInit: { headers: { 'x-api-key': setup().weir.key } } })

/** Clients of both eras, whose user answers forms. */
const CLIENTS = {
  async legacy({ answer }: User) {
    const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, answer)
    await client.connect(transportOf(StreamableHTTPClientTransport))
    return client
  },
  async modern({ answer }: User) {
    const client = new ModernClient(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { form: {} } } },
    )
    client.setRequestHandler('elicitation/create', answer)
    await client.connect(transportOf(ModernTransport))
    return client
  },
}

async function ask(era: keyof typeof CLIENTS, name: string, someone: User) {
  const client = await CLIENTS[era](someone)
  try {
    const result = await client.callTool({ name, arguments: {} })
    const [first] = result.content as { text: string }[]
    return { text: first?.text ?? '', isError: result.isError === true, made: result.structuredContent }
  } finally {
    await client.close()
  }
}

const yes = (response: string): Answer => ({ action: 'accept', content: { response } })

describe.each(['legacy', 'modern'] as const)('a client of the %s era that shows forms', (era) => {
  it('MCP-8: its user answers a question, and the call goes on; no thread is kept', async () => {
    const { client } = setup()
    const before = await client.threads.count({})
    const someone = user([yes('sure')])
    expect(await ask(era, 'approve', someone)).toMatchObject({ isError: false, text: 'Answer: "sure"' })
    expect(someone.seen).toMatchObject([
      { message: 'Go on?', requestedSchema: { properties: { response: { type: 'string' } } } },
    ])
    expect(await client.threads.count({})).toBe(before)
  })

  it('MCP-8: several questions at once are all answered', async () => {
    const someone = user([yes('one'), yes('two')])
    const { made } = await ask(era, 'both', someone)
    const sides = someone.seen.map((form) => (form as { message: string }).message)
    expect(sides.toSorted()).toEqual(['{"side":"left"}', '{"side":"right"}'])
    expect(made).toEqual(sides[0] === '{"side":"left"}' ? { a: 'one', b: 'two' } : { a: 'two', b: 'one' })
  })

  it.each(['decline', 'cancel'] as const)('MCP-8: %s ends the run', async (action) => {
    const { client } = setup()
    const before = await client.threads.count({})
    const { isError, text } = await ask(era, 'approve', user([{ action }]))
    expect([isError, text]).toEqual([true, expect.stringContaining('not answered')])
    await eventually(async () => expect(await client.threads.count({})).toBe(before))
  })
})

describe('the state of a question', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  }
  const call = async (params: Record<string, unknown>, key = setup().weir.key) => {
    const response = await fetch(`${setup().url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': key,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'approve',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'approve', arguments: { note: 'a' }, ...params, _meta: META },
      }),
    })
    return (await response.json()) as {
      result?: { resultType: string; requestState: string; inputRequests: Record<string, object> }
      error?: { code: number; message: string }
    }
  }

  it('MCP-8: goes on once, for its caller, its arguments and all of its questions', async () => {
    const { result } = await call({})
    expect(result?.resultType).toBe('input_required')
    const [id = ''] = Object.keys(result?.inputRequests ?? {})
    expect(result?.inputRequests[id]).toMatchObject({
      method: 'elicitation/create',
      params: { mode: 'form' },
    })
    const { requestState } = result ?? {}
    const answered = { requestState, inputResponses: { [id]: yes('sure') } }
    const { key } = await setup().weir.json<{ key: string }>('/orgs/current/personal-access-tokens', {
      description: 'another caller',
    })
    for (const [wrong, sender] of [
      [{ ...answered, arguments: { note: 'b' } }],
      [{ ...answered, inputResponses: {} }],
      [{ ...answered, requestState: `${requestState?.slice(0, -4)}AAA=` }],
      [answered, key],
    ] as const)
      expect(await call(wrong, sender)).toMatchObject({ error: { code: -32602 } })
    expect(await call(answered)).toMatchObject({ result: { content: [{ text: 'Answer: "sure"' }] } })
    expect(await call(answered)).toMatchObject({ error: { code: -32602 } })
  })

  it('MCP-3: an answer to a question that nobody asked gets 202', async () => {
    const { url, weir } = setup()
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': weir.key },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'no state', result: { action: 'accept', content: {} } }),
    })
    expect(response.status).toBe(202)
  })
})
