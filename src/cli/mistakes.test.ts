import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { main } from './main.ts'

// What people type wrong, and the words that they get: what is wrong, which name or value, what to type instead.

const ID = '4612d97d-00b9-4ade-a923-27bbbf7f98d0'

let dir: string
let url: string
/** A server that knows the key `good`, has two workspaces, and no runs. */
const server = createServer((req, res) => {
  if (req.headers['x-api-key'] !== 'good') return void res.writeHead(401).end('{"detail":"Invalid token"}')
  if (req.url === '/api/v1/workspaces') {
    const workspaces = ['Default', 'research'].map((display_name, n) => ({ id: `${n}`, display_name }))
    return void res.end(JSON.stringify(workspaces))
  }
  return void res.writeHead(404).end('{"detail":"Not found"}')
})
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-mistakes-'))
  await writeFile(join(dir, 'file'), '')
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await rm(dir, { recursive: true })
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** What a command says on standard error, without its help; it must end with 2 and say nothing else. */
async function wordsOf(line: string, env: Record<string, string> = {}): Promise<string> {
  const named = { DATA_DIR: dir, WEIR_URL: url, WEIR_DEPLOYMENT_URL: url, WEIR_API_KEY: 'good' }
  const none = { PORT: '', DEPLOYMENT_PORT: '' }
  for (const [name, value] of Object.entries({ ...named, ...none, ...env })) vi.stubEnv(name, value)
  const said: string[] = []
  vi.spyOn(console, 'error').mockImplementation((text: string) => void said.push(text))
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  const code = await main(line.split(' '))
  expect([code, printed.mock.calls]).toEqual([2, []])
  return said.join('\n').split('\n\nUsage: ')[0]?.replaceAll(dir, 'DIR').replaceAll(url, 'URL') ?? ''
}

const NOT_RUNNING =
  'No server runs on DIR (DATA_DIR). Start it with npm start, set DATA_DIR to the folder of one that runs, or name its address with --url or'

describe('a mistake on the command line', () => {
  it.each([
    ['usge', 'weir: there is no command "usge".'],
    ['usage list', 'weir usage: "list" is no action; there is only rebuild.'],
    [
      'usage --from 30days',
      'weir usage: --from must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z, or how long ago: 12h, 30d, 4w or 1y. It is "30days".',
    ],
    [
      'usage --group-by day',
      'weir usage: --group-by must be one of workspace, project, user, api_key, model. It is "day".',
    ],
    ['usage --format xml', 'weir usage: --format must be one of table, json, csv. It is "xml".'],
    ['usage rebuild now', 'weir usage: weir usage rebuild takes no words, not "now".'],
    ['keys new x', 'weir keys: "new" is none of list, create, revoke.'],
    [
      'keys create bot',
      'weir keys: The key would serve several workspaces (Default, research), and requests that do not say for which would be refused. Add --workspace NAME for a key of one workspace, or --default-workspace NAME for a key of all.',
    ],
    [
      'keys create bot --workspace Reserch',
      'weir keys: There is no workspace "Reserch"; weir workspaces list tells ids.',
    ],
    [
      'keys create bot --role root --workspace Default',
      'weir keys: --role must be one of admin, operator, user, viewer. It is "root".',
    ],
    [
      'keys create bot --expires soon --workspace Default',
      'weir keys: --expires must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z, or in how long: 12h, 30d, 4w or 1y. It is "soon".',
    ],
    ['members add ada', 'weir members: "ada" is no email address such as ada@example.com.'],
    ['members remove ada', 'weir members: "remove" is none of list, add.'],
    ['members', 'weir members: Name one of list, add.'],
    ['workspaces create', 'weir workspaces: create takes one name (in quotes when it has several words).'],
    ['runs lst', 'weir runs: "lst" is none of list, cancel, tail.'],
    ['runs tail', 'weir runs: tail takes either the id of one run or --thread ID.'],
    ['runs cancel', 'weir runs: cancel takes either ids of runs or --status STATUS.'],
    [
      'keys create two words',
      'weir keys: create takes one description (in quotes when it has several words), not "two words".',
    ],
    ['runs list --form json', 'weir runs: There is no option --form.'],
    ['dev --graps x.json', 'weir dev: There is no option --graps. Did you mean --graphs?'],
    ['runs tail last', 'weir runs: "last" is no id of a run; weir runs list tells them.'],
    [`runs tail ${ID}`, `weir runs: There is no run ${ID} (404); weir runs list tells which there are.`],
    ['runs list --thread x', 'weir runs: "x" is no id of a thread; weir runs list tells them.'],
    [
      `runs list --thread ${ID}`,
      `weir runs: There is no thread ${ID} (404); weir runs list tells the threads of runs.`,
    ],
    [
      'runs list --status done',
      'weir runs: --status must be one of pending, running, success, error, timeout, interrupted. It is "done".',
    ],
    ['runs list --limit many', 'weir runs: --limit must be a number from 1 to 1000. It is "many".'],
    ['validate', 'weir validate: Name a file, or - for standard input.'],
    ['serve now', 'weir serve: weir serve takes no words, not "now".'],
    [
      'dev --port http',
      'weir dev: --port must be a port up to 65535, or 0 for any free one. It is "http". (config_invalid)',
    ],
  ])('%s', async (line, words) => expect(await wordsOf(line)).toBe(words))
})

describe('a mistake about the server or its key', () => {
  const KEYLESS = { WEIR_API_KEY: '' }

  it.each([
    ['usage', { WEIR_URL: '' }, `weir usage: ${NOT_RUNNING} WEIR_URL.`],
    ['env', { WEIR_URL: '' }, `weir env: ${NOT_RUNNING} WEIR_URL.`],
    [
      'runs list',
      { WEIR_URL: '', WEIR_DEPLOYMENT_URL: '' },
      `weir runs: ${NOT_RUNNING} WEIR_DEPLOYMENT_URL.`,
    ],
    [
      'runs list',
      { WEIR_DEPLOYMENT_URL: '' },
      'weir runs: WEIR_URL names a server but not the address of its deployment: set WEIR_DEPLOYMENT_URL as well, or give --url.',
    ],
    [
      'keys list --url localhost:1984',
      {},
      'weir keys: --url must be an address such as http://localhost:1984, and is "localhost:1984".',
    ],
    [
      'usage --url http://127.0.0.1:1',
      {},
      'weir usage: No server answers at http://127.0.0.1:1. Start it with npm start, or name another address with --url.',
    ],
    [
      'usage',
      KEYLESS,
      'weir usage: The server at URL wants an API key, and there is none in DIR/api-key (401). Give a key with --key or WEIR_API_KEY.',
    ],
    [
      'usage --key wrong',
      {},
      'weir usage: The server at URL does not know the key of --key (401). weir keys create makes one; the first is in DATA_DIR/api-key.',
    ],
  ])('%s %j', async (line, env, words) => expect(await wordsOf(line, env)).toBe(words))

  it('of a first key that was revoked is told with the file that it is in, and how a new one is had', async () => {
    await writeFile(join(dir, 'api-key'), 'revoked\n')
    const words =
      'The server at URL does not know the key in DIR/api-key (401): it was revoked, or is of another data directory. Give a key with --key or WEIR_API_KEY. If no admin key is left, start the server again: it makes one and keeps it in DIR/api-key.'
    expect(await wordsOf('usage', KEYLESS)).toBe(`weir usage: ${words}`)
    expect(await wordsOf('env', KEYLESS)).toBe(`weir env: ${words}`)
    await rm(join(dir, 'api-key'))
  })
})

describe('a mistake about a start', () => {
  it.each([
    [
      { PORT: 'http' },
      'weir serve: The configuration is not valid:\n  PORT: must be an integer between 0 and 65535, got "http"\n(config_invalid)',
    ],
    [
      { CLICKHOUSE_CLUSTER: 'main' },
      'weir serve: The configuration is not valid:\n  CLICKHOUSE_CLUSTER: needs CLICKHOUSE_URL, the address of a server of the cluster "main"; without it the embedded ClickHouse is used\n(config_invalid)',
    ],
  ])('%j', async (env, words) => expect(await wordsOf('serve', env)).toBe(words))

  it('on a DATA_DIR that is a file names it', async () => {
    const env = { DATA_DIR: join(dir, 'file'), LOG_LEVEL: 'silent' }
    expect(await wordsOf('serve', env)).toBe(
      'weir serve: DIR/file is a file, and DATA_DIR needs a folder there. Remove it, or set DATA_DIR to another folder. (data_dir_unusable)',
    )
  })
})
