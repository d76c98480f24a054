import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { getEncoding } from 'js-tiktoken'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { useWeir } from '../../support/servers/use-weir.ts'

const server = useWeir()
const o200k = getEncoding('o200k_base')
const TRACE = newUuid()
const STEPS = 100
const FAILS_AT = 77
const UNPRICED_AT = 50

let client: Client

/** A trace of 201 runs: model calls and tool calls by turns, of which one fails and one has a model without a price. */
function longTrace() {
  const begin = Date.now() - 60_000
  const time = (ms: number): string => new Date(begin + ms).toISOString()
  const segment = (ms: number, id: string): string =>
    `${time(ms).replaceAll(/[-:.]/g, '').replace('Z', '000Z')}${id}`
  const root = segment(0, TRACE)
  const common = { trace_id: TRACE, session_name: 'agents' }
  const child = (ms: number, duration: number) => {
    const id = newUuid()
    const place = { id, parent_run_id: TRACE, dotted_order: `${root}.${segment(ms, id)}` }
    return { ...common, ...place, start_time: time(ms), end_time: time(ms + duration) }
  }
  const step = (i: number) => [
    {
      ...child(i * 100 + 1, 49),
      name: 'model',
      run_type: 'llm',
      inputs: { messages: [{ role: 'user', content: `step ${i}` }] },
      outputs: {
        choices: [{ message: { role: 'assistant', content: `ok ${i}` } }],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      },
      extra: {
        metadata: {
          ls_provider: 'openai',
          ls_model_name: i === UNPRICED_AT ? 'my-own-model' : 'gpt-4.1-mini',
        },
      },
    },
    {
      ...child(i * 100 + 51, 39),
      name: 'search',
      run_type: 'tool',
      inputs: { query: `tea ${i}` },
      ...(i === FAILS_AT
        ? { error: 'TimeoutError: no answer in 30 s' }
        : { outputs: { text: `${'tea '.repeat(500)}${i}` } }),
    },
  ]
  const agent = {
    ...common,
    id: TRACE,
    dotted_order: root,
    name: 'agent',
    run_type: 'chain',
    start_time: time(0),
    end_time: time(20_000),
    inputs: { messages: [{ role: 'user', content: 'What does tea cost?' }] },
    outputs: { messages: [{ role: 'assistant', content: 'Three euros' }] },
    extra: { metadata: { thread_id: 'tea-talk' } },
  }
  return [agent, ...Array.from({ length: STEPS }, (_, i) => step(i)).flat()]
}

const address = (path = '/mcp'): URL => new URL(`${server.current().url}${path}`)

async function textOf(name: string, args: Record<string, unknown> = {}): Promise<string> {
  const result = await client.callTool({ name, arguments: args })
  const [first] = result.content as { type: string; text: string }[]
  if (result.isError === true) throw new Error(first?.text)
  return first?.text ?? ''
}

async function post(body: unknown, headers: Record<string, string> = {}, path = '/mcp') {
  const answer = await fetch(address(path), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': server.current().key, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    json: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>),
  }
}

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
const modern = (method: string, params: Record<string, unknown> = {}, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { ...params, _meta: META },
})
const modernHeaders = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
})

beforeAll(async () => {
  const { request, key } = server.current()
  const body = JSON.stringify({ post: longTrace() })
  const sent = await request('/runs/batch', { method: 'POST', body })
  expect(sent.status).toBe(202)
  client = new Client({ name: 'test', version: '1' })
  const headers = { 'x-api-key': key }
  await client.connect(new StreamableHTTPClientTransport(address(), { requestInit: { headers } }))
  await eventually(async () =>
    expect(await textOf('read_trace', { trace_id: TRACE })).toContain(': 201 runs,'),
  )
})
afterAll(async () => await client?.close())

describe('the wire of /mcp', () => {
  it('MCP-2: the newest client finds the modern protocol', async () => {
    const newest = new ModernClient({ name: 'test', version: '1' })
    const requestInit = { headers: { authorization: `Bearer ${server.current().key}` } }
    await newest.connect(new ModernTransport(address('/api/mcp'), { requestInit }))
    const { tools } = await newest.listTools()
    expect(tools.map(({ name }) => name)).toContain('read_trace')
    const result = await newest.callTool({ name: 'list_projects', arguments: {} })
    expect(JSON.stringify(result.content)).toContain('agents')
    await newest.close()
  })

  it('MCP-1: only POST, with and without a slash at the end', async () => {
    const { request } = server.current()
    for (const method of ['GET', 'DELETE']) {
      const answer = await request('/mcp', { method })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')])
    }
    expect((await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, {}, '/mcp/')).json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {},
    })
  })

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'MCP-3: initialize echoes %s',
    async (protocolVersion) => {
      const { json } = await post({
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion },
      })
      expect(json).toMatchObject({
        id: 0,
        result: {
          protocolVersion,
          capabilities: { tools: { listChanged: false } },
          serverInfo: { name: 'weir' },
        },
      })
    },
  )

  it('MCP-3: any other version gets the newest one; notifications and responses get 202', async () => {
    const { json } = await post({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2030-01-01' },
    })
    expect(json).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
    expect(await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual({
      status: 202,
      json: undefined,
    })
    expect(await post({ jsonrpc: '2.0', id: 5, result: {} })).toEqual({ status: 202, json: undefined })
  })

  it.each([
    ['no JSON', '{', 400, -32700],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], 400, -32600],
    ['no version of JSON-RPC', { id: 1, method: 'ping' }, 400, -32600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'resources/list' }, 200, -32601],
    [
      'an unknown tool',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nope' } },
      200,
      -32602,
    ],
    ['no name of a tool', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, 200, -32602],
  ])('MCP-3: %s', async (_, body, status, code) => {
    expect(await post(body)).toMatchObject({ status, json: { error: { code } } })
  })

  it('MCP-4: discovery, results with their type, and errors of the modern protocol', async () => {
    const found = await post(modern('server/discover'), modernHeaders('server/discover'))
    expect(found.json?.['result']).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      ttlMs: expect.any(Number),
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'weir' } },
    })
    const list = await post(modern('tools/list'), modernHeaders('tools/list'))
    expect(list.json?.['result']).toMatchObject({
      resultType: 'complete',
      ttlMs: 60_000,
      cacheScope: 'private',
    })
    const call = modern('tools/call', { name: 'list_projects', arguments: {} })
    expect(
      (await post(call, modernHeaders('tools/call', `=?base64?${btoa('list_projects')}?=`))).status,
    ).toBe(200)
    for (const headers of [{}, modernHeaders('tools/list'), modernHeaders('tools/call', 'read_run')])
      expect(await post(call, headers)).toMatchObject({ status: 400, json: { error: { code: -32020 } } })
    const old = {
      ...call,
      params: { ...call.params, _meta: { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' } },
    }
    expect(
      await post(old, {
        ...modernHeaders('tools/call', 'list_projects'),
        'mcp-protocol-version': '2027-01-01',
      }),
    ).toMatchObject({
      status: 400,
      json: { error: { code: -32022, data: { requested: '2027-01-01' } } },
    })
    expect(await post(modern('resources/list'), modernHeaders('resources/list'))).toMatchObject({
      status: 404,
      json: { error: { code: -32601 } },
    })
  })

  it('MCP-9: without a key 401 with WWW-Authenticate', async () => {
    const answer = await fetch(address(), { method: 'POST', body: '{}' })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer/),
    ])
  })
})

describe('the tools over traces', () => {
  it('TRC-1: they only read, and all definitions have less than 16,000 characters', async () => {
    const { tools } = await client.listTools()
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
    expect(JSON.stringify(tools).length).toBeLessThan(16_000)
  })

  it('finds the failing tool call of 201 runs in 3 calls and 8,000 tokens', async () => {
    const projects = await textOf('fetch_runs', {
      project_name: 'agents',
      is_root: 'true',
      order_by: '-start_time',
    })
    const [{ trace_id }] = (JSON.parse(projects) as { runs: [{ trace_id: string }] }).runs
    const outline = await textOf('read_trace', { trace_id, only: 'errors' })
    const [, id = ''] = /search \[tool\] error .* id:(\w{8})/.exec(outline) ?? []
    const error = await textOf('read_run', { run_id: id, trace_id, part: 'error' })
    expect(error).toBe('TimeoutError: no answer in 30 s')
    expect(o200k.encode(projects + outline + error).length).toBeLessThan(8000)
  })

  it('explains the missing price of a model in one call', async () => {
    const text = await textOf('explain_cost', { trace_id: TRACE })
    expect(text).toContain('no price for my-own-model of openai')
    expect(text).toContain('POST /api/v1/model-price-map')
  })

  it.each([200, 400, 1000, 4000, 20_000])(
    'TRC-3: read_trace keeps a budget of %i tokens and says what is left',
    async (max_tokens) => {
      const text = await textOf('read_trace', { trace_id: TRACE, max_tokens })
      expect(o200k.encode(text).length).toBeLessThanOrEqual(max_tokens)
      const stands = [...text.matchAll(/×(\d+)|id:\w{8}/g)].reduce(
        (sum, [, times]) => sum + Number(times ?? 1),
        0,
      )
      const [, left = '0'] = /… (\d+) more runs/.exec(text) ?? []
      expect(stands + Number(left)).toBe(2 * STEPS + 1)
      if (max_tokens > 200) expect(text).toContain('TimeoutError')
    },
  )

  it('TRC-3: a list is continued after its last run until all were read', async () => {
    const ids = new Set<string>()
    for (let after: string | undefined = ''; after !== undefined; ) {
      const text = await textOf('read_trace', { trace_id: TRACE, only: 'tool', max_tokens: 1500, after })
      for (const [, id] of text.matchAll(/id:(\w{8})/g)) ids.add(id!)
      after = /after=(\w{8})/.exec(text)?.[1]
    }
    expect(ids.size).toBe(STEPS)
  })

  it('TRC-3: a long text is cut with its pointer, and read on from there', async () => {
    const hits = await textOf('search_trace', { trace_id: TRACE, query: 'tea 42' })
    const [, id = ''] = /id:(\w{8})\n +\/inputs\/query: tea 42/.exec(hits) ?? []
    const cut = await textOf('read_run', { run_id: id, trace_id: TRACE, part: 'outputs', max_tokens: 200 })
    expect(cut).toMatch(/… \(\+\d+ chars\) at \/text/)
    const part = await textOf('read_run', {
      run_id: id,
      trace_id: TRACE,
      part: 'outputs',
      path: '/text',
      offset: 1990,
    })
    expect(part).toBe(`${'tea '.repeat(500)}42`.slice(1990))
  })

  it('reads messages, a conversation, figures, usage, documentation, and compares', async () => {
    const calls = await textOf('read_trace', { trace_id: TRACE, only: 'llm' })
    const call = /id:(\w{8})/.exec(calls)?.[1]
    expect(await textOf('read_run', { run_id: call, trace_id: TRACE, part: 'messages' })).toContain('step 0')
    const history = JSON.parse(
      await textOf('get_thread_history', { thread_id: 'tea-talk', project_name: 'agents' }),
    )
    expect(history).toMatchObject({
      page_number: 1,
      total_pages: 1,
      preview_chars: 150,
      max_chars_per_page: 25_000,
    })
    expect(JSON.stringify(history)).toContain('step 99')
    const stats = JSON.parse(await textOf('run_stats', { project_name: 'agents', group_by: 'run_type' }))
    expect(stats).toMatchObject({ llm: { run_count: STEPS }, tool: { run_count: STEPS } })
    const range = { starting_on: '2020-01-01', ending_before: '2100-01-01' }
    expect(JSON.parse(await textOf('get_billing_usage', range))).toMatchObject({ traces: 1 })
    expect(await textOf('search_docs', { query: 'retention' })).toContain('using/deleting › Retention')
    expect(await textOf('read_doc', { page: 'using/deleting', section: 'Retention' })).toMatch(
      /^## Retention/,
    )
    expect(await textOf('compare', { a: TRACE, b: TRACE })).toMatch(/^Nothing differs/)
    expect(await textOf('validate_runs', { payload: '{"id":"x"}' })).toContain('"rejected": 1')
  })

  it.each([
    [
      'read_run',
      { run_id: TRACE, foo: 1 },
      'read_run takes run_id, trace_id, part, path, offset, max_tokens',
    ],
    ['read_run', { run_id: newUuid() }, 'fetch_runs lists ids'],
    ['fetch_runs', { project_name: 'nope' }, 'Projects: agents'],
    ['fetch_runs', { project_name: 'agents', filter: 'eq(' }, 'filter'],
    ['read_trace', {}, '"trace_id" is missing'],
    ['read_trace', { trace_id: TRACE, only: 'x' }, 'one of errors, llm, tool'],
  ])('TRC-4: %s of %j is an error that says what to do', async (name, args, text) => {
    await expect(textOf(name, args)).rejects.toThrow(text)
  })

  it('TRC-5: order_by with a leading minus, and an unknown one', async () => {
    const ask = async (order_by: string): Promise<string[]> => {
      const body = { trace: TRACE, is_root: false, limit: 2, order_by, order: 'asc', select: ['start_time'] }
      const { runs } = await server.current().json<{ runs: { start_time: string }[] }>('/runs/query', body)
      return runs.map(({ start_time }) => start_time)
    }
    const newest = await ask('-start_time')
    expect(newest[0]! > newest[1]!).toBe(true)
    const oldest = await ask('shoe_size')
    expect(oldest[0]! < oldest[1]!).toBe(true)
  })
})
