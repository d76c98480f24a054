import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { main } from './main.ts'
import { useFolder } from '../../test/support/folder.ts'

// Invalid command lines and their messages: each names the wrong word or value, and a valid one.

/** The umask of this process, which `serve` changes and other test files share. */
const umask = process.umask()
const ID = '4612d97d-00b9-4ade-a923-27bbbf7f98d0'

/** An answer whose text would control a terminal. */
const HOSTILE = JSON.stringify({ detail: 'No.\u001b]0;title\u0007\nNever.\u009b2J' })

let dir: string
let url: string
/** A server with the API key `good`, two workspaces and no runs. */
const server = createServer((req, res) => {
  if (req.url?.endsWith('/info')) return void res.end('{"weir":{}}')
  if (req.url?.endsWith('/members')) return void res.writeHead(403).end(HOSTILE)
  if (req.headers['x-api-key'] !== 'good') return void res.writeHead(401).end('{"detail":"Invalid token"}')
  if (req.url === '/api/v1/workspaces') {
    const workspaces = ['Default', 'research'].map((display_name, n) => ({ id: `${n}`, display_name }))
    return void res.end(JSON.stringify(workspaces))
  }
  return void res.writeHead(404).end('{"detail":"Not found"}')
})
useFolder(async (made) => {
  dir = made
  await writeFile(join(dir, 'file'), '')
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
})
afterEach(() => {
  process.umask(umask)
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Standard error of a command, without its help. The command must end with code 2 and print nothing else. */
async function wordsOf(line: string, env: Record<string, string> = {}): Promise<string> {
  const named = { DATA_DIR: dir, WEIR_URL: url, WEIR_DEPLOYMENT_URL: url, WEIR_API_KEY: 'good' }
  const none = { PORT: '', DEPLOYMENT_PORT: '' }
  for (const [name, value] of Object.entries({ ...named, ...none, ...env })) vi.stubEnv(name, value)
  const said: string[] = []
  vi.spyOn(console, 'error').mockImplementation((text: string) => void said.push(text))
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  const code = await main(line.replaceAll('DIR', dir).replaceAll('HOST', new URL(url).host).split(' '))
  expect([code, printed.mock.calls]).toEqual([2, []])
  return (
    said
      .join('\n')
      .split('\n\nUsage: ')[0]
      ?.replaceAll(dir, 'DIR')
      .replaceAll(url, 'URL')
      .replaceAll(new URL(url).host, 'HOST') ?? ''
  )
}

const NOT_RUNNING =
  'No server runs on DIR (DATA_DIR). Start it with npm start, set DATA_DIR to the folder of one that runs, or name its address with --url or'

it('the answer of a server cannot control the terminal', async () => {
  const words = await wordsOf('members list')
  expect(words).toContain('No.\\u001b]0;title\\u0007\nNever.\\u009b2J')
})

describe('a mistake on the command line', () => {
  it.each([
    ['usge', 'weir: there is no command "usge". Did you mean usage?'],
    ['key list', 'weir: there is no command "key". Did you mean keys?'],
    ['publish', 'weir: there is no command "publish".'],
    ['help publish', 'weir: there is no command "publish".'],
    [
      'usage --group-by user,project',
      'weir usage: --group-by must be one of workspace, project, user, api_key, model. It is "user,project".',
    ],
    ['usage --workspace', 'weir usage: --workspace needs a value after it.'],
    ['usage --from -7d', 'weir usage: --from needs a value after it.'],
    ['usage --details=yes', 'weir usage: --details takes no value.'],
    [
      'usage --from 2026-11-20 --to 2026-11-19T23:00:00-01:00',
      'weir usage: --from must be before --to. --from is 2026-11-20, --to is 2026-11-19T23:00:00-01:00.',
    ],
    [
      'keys create bot --workspace Default --expires 2020-01-01',
      'weir keys: --expires must be in the future. It is "2020-01-01".',
    ],
    ['runs show', 'weir runs: "show" is not one of list, cancel, tail.'],
    ['env now', 'weir env: weir env takes no arguments, not now.'],
    ['config PORT', 'weir config: weir config takes no arguments, not "PORT".'],
    ['usage list', 'weir usage: "list" is not an action; there are limits and rebuild.'],
    [
      'usage --from 30days',
      'weir usage: --from must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z, or how long ago: 10m, 12h, 30d, 4w or 1y. It is "30days".',
    ],
    [
      'usage --group-by day',
      'weir usage: --group-by must be one of workspace, project, user, api_key, model. It is "day".',
    ],
    ['usage --format xml', 'weir usage: --format must be one of table, json, csv. It is "xml".'],
    ['usage rebuild now', 'weir usage: weir usage rebuild takes no arguments, not "now".'],
    ['keys new x', 'weir keys: "new" is not one of list, create, revoke.'],
    [
      'keys create bot',
      'weir keys: The key would serve several workspaces (Default, research), and requests that do not name one would be refused. Add --workspace NAME for a key of one workspace, or --default-workspace NAME for a key of all.',
    ],
    [
      'keys create bot --workspace Reserch',
      'weir keys: There is no workspace "Reserch"; weir workspaces list shows ids.',
    ],
    [
      'keys create bot --role root --workspace Default',
      'weir keys: --role must be one of admin, operator, user, viewer. It is "root".',
    ],
    [
      'keys create bot --expires soon --workspace Default',
      'weir keys: --expires must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z, or in how long: 10m, 12h, 30d, 4w or 1y. It is "soon".',
    ],
    ['members add ada', 'weir members: "ada" is not an email address such as ada@example.com.'],
    ['members remove ada', 'weir members: "remove" is not one of list, add.'],
    ['members', 'weir members: Name one of list, add.'],
    [
      'members list --role root',
      'weir members: --role must be one of admin, operator, user, viewer. It is "root".',
    ],
    ['members list --name Ada', 'weir members: list takes no --name.'],
    ['workspaces create', 'weir workspaces: create takes one name (in quotes when it has several words).'],
    ['runs lst', 'weir runs: "lst" is not one of list, cancel, tail.'],
    ['runs tail', 'weir runs: tail takes either the id of one run or --thread ID.'],
    ['runs cancel', 'weir runs: cancel takes either ids of runs or --status STATUS.'],
    [
      'keys create two words',
      'weir keys: create takes one description (in quotes when it has several words), not "two words".',
    ],
    ['runs list --form json', 'weir runs: There is no option --form. Did you mean --format?'],
    [
      'usage --json --format csv',
      'weir usage: --json is short for --format json, which contradicts --format csv. Leave one of them out.',
    ],
    ['config --last', 'weir config: There is no option --last; there are --format, --json, --help.'],
    ['dev --graps x.json', 'weir dev: There is no option --graps. Did you mean --graphs?'],
    ['runs tail last', 'weir runs: "last" is not the id of a run; weir runs list shows them.'],
    [`runs tail ${ID}`, `weir runs: There is no run ${ID} (404); weir runs list shows the runs.`],
    ['runs list --thread x', 'weir runs: "x" is not the id of a thread; weir runs list shows them.'],
    [
      `runs list --thread ${ID}`,
      `weir runs: There is no thread ${ID} (404); weir runs list shows the threads of runs.`,
    ],
    [
      'runs list --status done',
      'weir runs: --status must be one of pending, running, success, error, timeout, interrupted. It is "done".',
    ],
    ['runs list --limit many', 'weir runs: --limit must be a number from 1 to 1000. It is "many".'],
    ['validate', 'weir validate: Name a file, or - for standard input, or a project with --project.'],
    ['validate DIR', 'weir validate: DIR: It is a folder: name the files in it.'],
    ['validate DIR/file', 'weir validate: DIR/file: It is empty.'],
    ['validate DIR/none.json', 'weir validate: DIR/none.json: There is no such file.'],
    [
      'validate DIR/file --processors DIR/none.js',
      'weir validate: There is no file DIR/none.js. PROCESSORS and --processors name modules with message formats of your own. (config_invalid)',
    ],
    ['serve now', 'weir serve: weir serve takes no arguments, not "now".'],
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
      'env',
      {},
      'weir env: What listens at URL is not Weir: it answers 404 to GET /settings. Name the address that the server printed when it started.',
    ],
    [
      'env --url http://127.0.0.1:1',
      {},
      'weir env: No server answers at http://127.0.0.1:1. Start it with npm start, or name another address with --url.',
    ],
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
      'workspaces list --url https://HOST',
      {},
      'weir workspaces: What listens at https://HOST does not speak https. Name it with http: URL.',
    ],
    [
      'usage',
      KEYLESS,
      'weir usage: The server at URL requires an API key, and there is none in DIR/api-key (401). Give a key with --key or WEIR_API_KEY.',
    ],
    [
      'usage --key wrong',
      {},
      'weir usage: The server at URL refused the key of --key (401). Create one with weir keys create; the first one is in DATA_DIR/api-key.',
    ],
  ])('%s %j', async (line, env, words) => expect(await wordsOf(line, env)).toBe(words))

  it('names the file of a revoked first key, and how to get a new one', async () => {
    await writeFile(join(dir, 'api-key'), 'revoked\n')
    const words =
      'The server at URL refused the key in DIR/api-key (401): it was revoked, or belongs to another data directory. Give a key with --key or WEIR_API_KEY. If no admin key is left, restart the server: it creates one and writes it to DIR/api-key.'
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
      { PORT: '"1984"', GRAPHS: "'langgraph.json'" },
      'weir serve: The configuration is not valid:\n  PORT: has quotes around its value, leave them out, got ""1984""\n  GRAPHS: has quotes around its value, leave them out, got "\'langgraph.json\'"\n(config_invalid)',
    ],
    [
      { CLICKHOUSE_CLUSTER: 'main' },
      'weir serve: The configuration is not valid:\n  CLICKHOUSE_CLUSTER: needs CLICKHOUSE_URL, the address of a server of the cluster "main"; without it the embedded ClickHouse is used\n(config_invalid)',
    ],
  ])('%j', async (env, words) => expect(await wordsOf('serve', env)).toBe(words))

  it('names a DATA_DIR that is a file', async () => {
    const env = { DATA_DIR: join(dir, 'file'), LOG_LEVEL: 'silent' }
    expect(await wordsOf('serve', env)).toBe(
      'weir serve: DIR/file is a file, and DATA_DIR needs a folder there. Set DATA_DIR to another folder. (data_dir_unusable)',
    )
  })
})

describe('alternative spellings that the command line accepts', () => {
  it.each(['usage --help', 'help usage'])('%s prints the help of the command', async (line) => {
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    expect(await main(line.split(' '))).toBe(0)
    expect(String(printed.mock.calls[0]?.[0])).toMatch(/^Usage: weir usage /)
  })

  it.each(['/', '/api', '/api/v1/'])('an address that ends with %s', async (end) => {
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    expect(await main(['workspaces', 'list', '--json', '--url', `${url}${end}`, '--key', 'good\n'])).toBe(0)
    expect(String(printed.mock.calls[0]?.[0])).toContain('research')
  })
})
