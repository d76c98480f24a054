import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { useDeployment } from '../deployments/use-deployment.ts'

const setup = useDeployment()
let mcp: Client

beforeAll(async () => {
  const { url, weir, request } = setup()
  // The setup checks that some response fits the document.
  expect((await request('/info')).status).toBe(200)
  mcp = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { 'x-api-key': weir.key } }
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
})
afterAll(async () => await mcp?.close())

async function call(name: string, args: Record<string, unknown>) {
  const result = await mcp.callTool({ name, arguments: args })
  const [first] = result.content as { type: string; text: string }[]
  return { text: first?.text ?? '', isError: result.isError === true, structured: result.structuredContent }
}

it('MCP-6: each assistant is a tool, with its schema, in order of name', async () => {
  // A list does not wait as long as the compiler may need for the types of every graph; the schemas do.
  const { client } = setup()
  for (const { assistant_id } of await client.assistants.search({ limit: 100 }))
    await client.assistants.getSchemas(assistant_id).catch(() => undefined)
  const { tools } = await mcp.listTools()
  const names = tools.map(({ name }) => name)
  expect(names).toEqual(names.toSorted())
  const { kinds, talking } = Object.fromEntries(tools.map((tool) => [tool.name, tool]))
  expect(kinds).toMatchObject({ title: 'kinds', description: 'Interrupts, tools, subgraphs, sends.' })
  expect(talking).toMatchObject({
    description: 'Tool based on the talking assistant',
    inputSchema: { type: 'object', properties: { messages: { type: 'string' } } },
    annotations: { readOnlyHint: false, openWorldHint: true },
  })
  expect(
    tools.every(
      ({ outputSchema, inputSchema }) => outputSchema === undefined && inputSchema.type === 'object',
    ),
  ).toBe(true)
}, 60_000)

it('MCP-6: names are usable, and different for assistants of one name', async () => {
  const { client } = setup()
  for (const assistantId of [
    '00000000-aaaa-4000-8000-000000000001',
    '00000000-bbbb-4000-8000-000000000002',
    '00000000-cccc-4000-8000-000000000003',
  ])
    await client.assistants.create({ graphId: 'echo', assistantId, name: 'Grüße  an alle!' })
  const { tools } = await mcp.listTools()
  const made = tools.filter(({ title }) => title === 'Grüße  an alle!').map(({ name }) => name)
  expect(made).toEqual(['Gre_an_alle', 'Gre_an_alle_00000000', 'Gre_an_alle_00000003'])
  expect((await call('Gre_an_alle_00000000', { text: 'hi' })).structured).toMatchObject({ text: 'hi' })
})

it('MCP-7: text for messages is a message of the user, and the answer is the text of the agent', async () => {
  const { text, isError, structured } = await call('talking', { messages: 'Hello there' })
  expect([isError, structured]).toEqual([false, undefined])
  expect(text).not.toBe('')
  expect(text).not.toContain('{')
})

it('MCP-7: other output is JSON, and no thread is kept', async () => {
  const { client } = setup()
  const before = await client.threads.count({})
  const { text, structured } = await call('echo', { text: 'hi' })
  expect(structured).toMatchObject({ text: 'hi' })
  expect(JSON.parse(text)).toEqual(structured)
  expect(await client.threads.count({})).toBe(before)
})

it('MCP-7: the failure of a run is an error with name and message', async () => {
  expect(await call('kinds', { kind: 'fail' })).toMatchObject({
    isError: true,
    text: 'QuotaError: no more quota',
  })
})

it('MCP-7: a question keeps its thread, on which it can be answered', async () => {
  const { client } = setup()
  const { text, isError } = await call('kinds', { kind: 'ask' })
  const asked = JSON.parse(text) as {
    __interrupt__: { id: string; value: unknown }[]
    thread_id: string
    run_id: string
  }
  expect([isError, asked.__interrupt__[0]?.value]).toEqual([false, { question: 'go on?' }])
  expect(asked.run_id).toMatch(/^[\da-f-]{36}$/)
  const result = await client.runs.wait(asked.thread_id, 'kinds', { command: { resume: 'yes' } })
  expect(result).toMatchObject({ answer: 'yes' })
})

it('MCP-7: an unknown tool is an error of the protocol', async () => {
  await expect(mcp.callTool({ name: 'nope', arguments: {} })).rejects.toMatchObject({ code: -32602 })
})

it('MCP-2: the newest client calls a tool', async () => {
  const newest = new ModernClient({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${setup().weir.key}` } }
  await newest.connect(new ModernTransport(new URL(`${setup().url}/mcp`), { requestInit }))
  const result = await newest.callTool({ name: 'echo', arguments: { text: 'modern' } })
  expect(result.structuredContent).toMatchObject({ text: 'modern' })
  await newest.close()
})

it('MCP-9: without a key 401; a key that only reads lists tools and calls none', async () => {
  const { url, weir } = setup()
  const ask = async (method: string, key: string | undefined) =>
    await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: 'echo', arguments: {} } }),
    })
  expect((await ask('tools/list', undefined)).status).toBe(401)
  const made = { description: 'reads', read_only: true }
  const { key } = await weir.json<{ key: string }>('/orgs/current/personal-access-tokens', made)
  expect((await ask('tools/list', key)).status).toBe(200)
  expect((await ask('tools/call', key)).status).toBe(403)
})

it('MCP-4, MCP-5: progress names the node; a call whose client leaves is cancelled, and leaves no thread', async () => {
  const { url, weir, client } = setup()
  const before = await client.threads.count({})
  const leave = new AbortController()
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    signal: leave.signal,
    headers: {
      'content-type': 'application/json',
      'x-api-key': weir.key,
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 8,
      method: 'tools/call',
      params: { name: 'kinds', arguments: { kind: 'slow' }, _meta: { progressToken: 'p' } },
    }),
  })
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  let told = ''
  for await (const bytes of answer.body ?? []) {
    told += Buffer.from(bytes).toString()
    if (told.includes('"message":"respond"')) break
  }
  leave.abort()
  await eventually(async () => expect(await client.threads.count({})).toBe(before))
})

it('MCP-5: a call that asks for progress gets a stream of it, and a refusal keeps its status', async () => {
  const { url, weir } = setup()
  const seen: number[] = []
  const args = { kind: 'custom' }
  const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
  const result = await mcp.callTool({ name: 'kinds', arguments: args }, undefined, { onprogress })
  expect([result.isError, seen[0]]).toEqual([undefined, 0])
  const ask = async (name: string, accept: string) =>
    await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': weir.key, accept },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: { name, arguments: { text: 'hi' }, _meta: { progressToken: 'p' } },
      }),
    })
  const streamed = await ask('echo', 'application/json, text/event-stream')
  expect(streamed.headers.get('content-type')).toBe('text/event-stream')
  const text = await streamed.text()
  const messages = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as object)
  expect(messages[0]).toMatchObject({
    method: 'notifications/progress',
    params: { progressToken: 'p', progress: 0 },
  })
  expect(messages.at(-1)).toMatchObject({ id: 7, result: { structuredContent: { text: 'hi' } } })
  expect((await ask('echo', 'application/json')).headers.get('content-type')).toBe('application/json')
  expect(await (await ask('nope', '*/*')).json()).toMatchObject({ id: 7, error: { code: -32602 } })
})
