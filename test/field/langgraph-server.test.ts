import { once } from 'node:events'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newUuid } from '../../src/base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../src/schema/json.ts'
import { LONG_MS } from '../support/campaign.ts'
import { eventually } from '../support/eventually.ts'
import { fixedPort } from '../support/fixed-port.ts'
import { withoutPython } from '../support/python.ts'
import { KEY, startWeir, type WeirProcess } from '../support/servers/weir-process.ts'
import { temporaryDir } from '../support/stores/clickhouse/embedded-clickhouse.ts'
import { langgraphServer, withoutField } from './installed.ts'

// The same requests of MCP and A2A to LangGraph's server and to ours, which host the same graphs in Python.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../fixtures/python-graphs', import.meta.url))

interface Hosted {
  url: string
  assistants: Record<string, string>
}

let theirs: Hosted
let ours: Hosted
let server: ChildProcess | undefined
let weir: WeirProcess | undefined
let folder: Awaited<ReturnType<typeof temporaryDir>>

const HEADERS = {
  'x-api-key': KEY,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

async function hosted(url: string): Promise<Hosted> {
  const assistants: Record<string, string> = {}
  await eventually(async () => {
    const init = { method: 'POST', headers: HEADERS, body: '{"limit":10}' }
    const found = (await (await fetch(`${url}/assistants/search`, init)).json()) as Record<string, string>[]
    for (const { graph_id, assistant_id } of found) assistants[graph_id!] = assistant_id!
    expect(Object.keys(assistants)).toHaveLength(2)
  })
  return { url, assistants }
}

async function makeProject(path: string): Promise<void> {
  await mkdir(path)
  for (const name of ['fake_model.py', 'tokens.py', 'kinds.py'])
    await cp(join(GRAPHS, name), join(path, name))
  await writeFile(join(path, 'requirements.txt'), '')
  const kinds = { path: './kinds.py:graph', description: 'Interrupts, tools, subgraphs, sends.' }
  const config = { dependencies: ['.'], graphs: { tokens: './tokens.py:graph', kinds } }
  await writeFile(join(path, 'langgraph.json'), JSON.stringify(config))
}

async function startBoth(): Promise<void> {
  folder = await temporaryDir()
  const environment = langgraphServer().path
  for (const name of ['theirs', 'ours']) await makeProject(join(folder.dir, name))
  const port = await fixedPort()
  const args = ['dev', '--no-browser', '--no-reload', '--host', '127.0.0.1', '--port', String(port)]
  server = spawn(join(environment, 'bin', 'langgraph'), args, {
    cwd: join(folder.dir, 'theirs'),
    env: { PATH: process.env['PATH'], LANGSMITH_TRACING: 'false', LANGGRAPH_CLI_NO_ANALYTICS: '1' },
    stdio: 'ignore',
  })
  weir = await startWeir(join(folder.dir, 'weir'), {
    GRAPHS: join(folder.dir, 'ours', 'langgraph.json'),
    DEPLOYMENT_NAME: 'own',
    VIRTUAL_ENV: environment,
  })
  ours = await hosted(`${weir.url}/deployments/own`)
  theirs = await hosted(`http://127.0.0.1:${port}`)
}

async function stopBoth(): Promise<void> {
  await weir?.stop()
  if (server?.exitCode === null) {
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
  await folder?.remove()
}

type Request = [title: string, path: string, body: JsonValue | undefined, method?: string | undefined]

const rpc = (method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params && { params }),
})
const tool = (name: string, args: JsonObject = {}): JsonObject => rpc('tools/call', { name, arguments: args })
const messages = [{ role: 'user', content: 'hi' }]
const hello = (version: string): JsonObject =>
  rpc('initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'x', version: '1' } })
const said = (parts: JsonValue[], more: JsonObject = {}): JsonObject => ({
  message: { kind: 'message', role: 'user', messageId: newUuid(), parts, ...more },
})
const text = { kind: 'text', text: 'hi' }
const data = (value: JsonObject): JsonObject => ({ kind: 'data', data: value })

/** `{tokens}` and `{kinds}` stand for the ids of assistants. */
const EQUAL: Request[] = [
  ['MCP-3: initialize of an earlier version', '/mcp/', hello('2025-03-26')],
  ['MCP-3: initialize of the newest legacy version', '/mcp/', hello('2025-11-25')],
  ['MCP-3: a notification', '/mcp/', { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ['MCP-3: ping', '/mcp/', rpc('ping')],
  ['MCP-3: an unknown method', '/mcp/', rpc('nope/x')],
  ['MCP-3: no JSON', '/mcp/', '{'],
  ['MCP-3: no version of JSON-RPC', '/mcp/', { id: 1, method: 'ping' }],
  ['MCP-3: a batch', '/mcp/', [rpc('ping')]],
  ['MCP: resources, which neither has', '/mcp/', rpc('resources/list')],
  ['MCP: prompts, which neither has', '/mcp/', rpc('prompts/list')],
  ['MCP: GET', '/mcp/', undefined, 'GET'],
  ['MCP-5: the tools', '/mcp/', rpc('tools/list')],
  ['MCP-7: a call', '/mcp/', tool('tokens', { messages, tokens: 3 })],
  ['MCP-7: a graph that fails', '/mcp/', tool('tokens', { messages, fail: true })],
  ['MCP-8: a graph that asks', '/mcp/', tool('kinds', { messages, kind: 'ask' })],
  ['MCP-7: an unknown tool', '/mcp/', tool('nope')],
  ['A2A-1: a card without an assistant', '/.well-known/agent-card.json', undefined],
  ['A2A-6: a message', '/a2a/{tokens}', rpc('message/send', said([text]))],
  ['A2A-5: data as input', '/a2a/{tokens}', rpc('message/send', said([data({ tokens: 2 }), text]))],
  ['A2A-6: a graph that asks', '/a2a/{kinds}', rpc('message/send', said([data({ kind: 'ask' }), text]))],
  ['A2A-6: a graph that fails', '/a2a/{tokens}', rpc('message/send', said([data({ fail: true }), text]))],
  ['A2A-5: no message', '/a2a/{tokens}', rpc('message/send', {})],
  ['A2A-5: no parts', '/a2a/{tokens}', rpc('message/send', said([]))],
  [
    'A2A-5: a file',
    '/a2a/{tokens}',
    rpc('message/send', said([{ kind: 'file', file: { uri: 'http://127.0.0.1/a' } }])),
  ],
  [
    'A2A-5: a message to an unknown task',
    '/a2a/{tokens}',
    rpc('message/send', said([text], { taskId: newUuid() })),
  ],
  ['A2A-13: an unknown task', '/a2a/{tokens}', rpc('tasks/get', { id: newUuid() })],
  ['A2A-13: a task without an id', '/a2a/{tokens}', rpc('tasks/get', {})],
  ['A2A-13: cancelling an unknown task', '/a2a/{tokens}', rpc('tasks/cancel', { id: newUuid() })],
  ['A2A-13: an unknown method', '/a2a/{tokens}', rpc('nope')],
  ['A2A-13: no JSON', '/a2a/{tokens}', '{'],
  ['A2A-13: a batch', '/a2a/{tokens}', [rpc('tasks/get', { id: 'x' })]],
  ['A2A-13: no id', '/a2a/{tokens}', { jsonrpc: '2.0', method: 'message/send', params: said([text]) }],
  [
    'A2A-13: no version of JSON-RPC',
    '/a2a/{tokens}',
    { id: 1, method: 'message/send', params: said([text]) },
  ],
  ['A2A-1: an unknown assistant', `/a2a/${newUuid()}`, rpc('message/send', said([text]))],
]

/** What differs for a reason. */
const DIFFERENT: [...request: Request, theirs: JsonObject, ours: JsonObject][] = [
  // The address is there, and only its method is not: 405.
  ['MCP: DELETE', '/mcp/', undefined, 'DELETE', { status: 404 }, { status: 405 }],
  // A2A-1 allows both.
  [
    'A2A-1: the card of an unknown assistant',
    `/a2a/${newUuid()}`,
    undefined,
    'GET',
    { status: 400 },
    { status: 404 },
  ],
  // The code that A2A 0.3 has for it.
  [
    'A2A-2: push notifications',
    '/a2a/{tokens}',
    rpc('tasks/pushNotificationConfig/set', {
      taskId: 'x',
      pushNotificationConfig: { url: 'http://127.0.0.1/' },
    }),
    'POST',
    { status: 200, id: 1, code: -32601 },
    { status: 200, id: 1, code: -32003 },
  ],
]

/** What a client sees of a response, without ids, times and each server's own words. */
async function outcomeOf({ url, assistants }: Hosted, [, path, body, method]: Request): Promise<JsonObject> {
  const target = path.replace(/\{(\w+)\}/, (_all, name: string) => assistants[name] ?? '')
  const response = await fetch(url + target, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: HEADERS,
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  })
  const { status } = response
  const read = await response.text()
  // A refusal of HTTP says enough with its status.
  if (read === '' || status >= 400) return { status }
  const answer = JSON.parse(read) as JsonObject
  const { error, result } = answer
  const id = answer['id'] ?? null
  if (isObject(error)) return { status, id, code: error['code'] ?? null }
  return { status, id, result: seenOf(result as JsonObject) }
}

interface StreamEvent {
  kind: string
  status?: { state: string }
  artifact?: { parts: Part[] }
  final?: boolean
}

type Part = { kind: string; text?: string; data?: JsonObject }
type Task = { kind: string; status: { state: string }; artifacts?: { name: string; parts: Part[] }[] } & {
  history: { role: string; parts: Part[] }[]
}
type Tools = { name: string; title: string; inputSchema: JsonObject; annotations: JsonObject }[]

function seenOf(result: JsonObject): JsonValue {
  if ('tools' in result)
    return (result['tools'] as unknown as Tools).map(({ name, title, inputSchema, annotations }) => ({
      name,
      title,
      annotations,
      type: inputSchema['type'] ?? null,
      required: inputSchema['required'] ?? null,
      properties: Object.entries(inputSchema['properties'] as Record<string, JsonObject>).map(
        ([key, one]) => [key, one['type'] ?? null],
      ),
    }))
  if ('content' in result)
    // A state is Python's text there and the last message here (MCP-7); a reason is the error's name there.
    return {
      failed: result['isError'] === true,
      content: (result['content'] as JsonObject[]).map((one) => one['type'] ?? null),
    }
  if (result['kind'] !== 'task') {
    const { serverInfo: _own, ...rest } = result
    return rest
  }
  const { status, artifacts = [], history } = result as unknown as Task
  const texts = (parts: Part[]): JsonValue => parts.map((part) => part.text ?? part.kind)
  const isFailed = status.state === 'failed'
  return {
    state: status.state,
    artifacts: artifacts.map(({ name, parts }) => [name, texts(parts)]),
    // The history of a failed task is empty there, and is what was said here.
    history: isFailed ? [] : history.map(({ role, parts }) => [role, texts(parts)]),
  }
}

const missing = withoutPython() || withoutField(langgraphServer())
describe.skipIf(missing !== '')(`MCP and A2A beside LangGraph's server${missing}`, () => {
  beforeAll(startBoth)
  afterAll(stopBoth)

  it.each(EQUAL)('%s is answered alike', async (...request) => {
    expect(await outcomeOf(ours, request)).toEqual(await outcomeOf(theirs, request))
  })

  it.each(DIFFERENT)('%s is answered otherwise', async (title, path, body, method, there, here) => {
    expect(await outcomeOf(theirs, [title, path, body, method])).toEqual(there)
    expect(await outcomeOf(ours, [title, path, body, method])).toEqual(here)
  })

  it('A2A-10: a stream has the same states and the same answer', async () => {
    const seen = async ({ url, assistants }: Hosted) => {
      const body = JSON.stringify(rpc('message/stream', said([text])))
      const response = await fetch(`${url}/a2a/${assistants['tokens']}`, {
        method: 'POST',
        headers: HEADERS,
        body,
      })
      const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(
        ([, line = '']) => (JSON.parse(line) as { result: StreamEvent }).result,
      )
      const steps = events.map(({ kind, status, artifact, final }) =>
        JSON.stringify([kind, status?.state, artifact?.parts, final]),
      )
      // The server says what came in a short time at once; LangGraph's says each token.
      return steps.filter((step, n) => step !== steps[n - 1])
    }
    expect(await seen(ours)).toEqual(await seen(theirs))
  })

  it('A2A-8: an answer goes on with the task', async () => {
    const seen = async (place: Hosted) => {
      const ask = async (params: JsonObject): Promise<JsonObject> => {
        const response = await fetch(`${place.url}/a2a/${place.assistants['kinds']}`, {
          method: 'POST',
          headers: HEADERS,
          body: JSON.stringify(rpc('message/send', params)),
        })
        return ((await response.json()) as { result: JsonObject }).result
      }
      const asked = await ask(said([data({ kind: 'ask' }), text]))
      const place_of_task = { taskId: asked['id']!, contextId: asked['contextId']! }
      const answered = await ask(said([data({ resume: 'yes' })], place_of_task))
      return [answered['id'] === asked['id'], seenOf(answered)]
    }
    expect(await seen(ours)).toEqual(await seen(theirs))
  })
})
