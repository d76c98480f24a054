import { expect, it } from 'vitest'
import { serveMcp } from './serve-mcp.ts'
import type { ToolServer } from './tool-server.ts'

const SERVER: ToolServer = {
  info: { name: 'test', version: '1' },
  list: async () => ({ tools: [] }),
  call: async () => ({ content: [] }),
}

it('MCP-3: refuses a message that is nested too deeply', async () => {
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"payload":${deep}}}}`
  const { status, body } = await serveMcp(Buffer.from(call), {}, SERVER)
  expect(status).toBe(400)
  expect(JSON.parse(String(body))).toMatchObject({
    error: { code: -32600, message: expect.stringContaining('nested too deeply') },
  })
})

it('refuses a message of more than 8 MiB before it is parsed', async () => {
  const body = Buffer.alloc(8 * 1024 * 1024 + 1, ' ')
  await expect(serveMcp(body, {}, SERVER)).rejects.toMatchObject({ code: 'body_too_large' })
})

it('MCP-3: refuses a message that is neither a request nor an answer', async () => {
  const { status, body } = await serveMcp(Buffer.from('{"jsonrpc":"2.0"}'), {}, SERVER)
  expect([status, JSON.parse(String(body))]).toMatchObject([400, { error: { code: -32600 } }])
  const answered = await serveMcp(Buffer.from('{"jsonrpc":"2.0","id":1,"error":{}}'), {}, SERVER)
  expect(answered.status).toBe(202)
})

it('MCP-7: integers beyond 2^53 keep their digits, in ids, arguments and results', async () => {
  const seen: string[] = []
  const server: ToolServer = {
    ...SERVER,
    async call({ args }) {
      seen.push(JSON.stringify(args))
      return { content: [], structuredContent: args }
    },
  }
  const call = `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"a","arguments":{"n":12345678901234567891}}}`
  const { body } = await serveMcp(Buffer.from(call), {}, server)
  expect(seen).toEqual(['{"n":12345678901234567891}'])
  expect(body).toBe(
    '{"jsonrpc":"2.0","id":9007199254740993,"result":{"content":[],"structuredContent":{"n":12345678901234567891}}}',
  )
})

it('MCP-4: a header that names an unknown version is refused, and one that a client has negotiated is not', async () => {
  const ping = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}')
  const statusFor = async (version: string): Promise<number | undefined> =>
    (await serveMcp(ping, { 'mcp-protocol-version': version }, SERVER)).status
  expect(await Promise.all(['2025-11-25', '2024-11-05', '2026-07-28'].map(statusFor))).toEqual([
    200, 200, 200,
  ])
  const { status, body } = await serveMcp(ping, { 'mcp-protocol-version': '2031-01-01' }, SERVER)
  expect([status, JSON.parse(String(body))]).toMatchObject([
    400,
    { id: 1, error: { code: -32022, data: { requested: '2031-01-01' } } },
  ])
  const first = Buffer.from(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2031-01-01"}}',
  )
  expect((await serveMcp(first, { 'mcp-protocol-version': '2031-01-01' }, SERVER)).status).toBe(200)
})

it('MCP-3: params and arguments that are null are left out', async () => {
  for (const params of ['null', '{"name":"a","arguments":null}']) {
    const method = params === 'null' ? 'tools/list' : 'tools/call'
    const call = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
    const { body } = await serveMcp(Buffer.from(call), {}, SERVER)
    expect(JSON.parse(String(body))).toHaveProperty('result')
  }
})
