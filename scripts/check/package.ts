import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Sbom } from '../sbom.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const START_MS = 60_000
const INSTALL_MS = 5 * 60_000
const RETRY_MS = 30_000

/** A valid llm run, in the form that `weir validate` accepts. */
const GOOD_RUN = {
  id: '01939a40-0000-7000-8000-000000000001',
  trace_id: '01939a40-0000-7000-8000-000000000001',
  dotted_order: '20261120T100000000000Z01939a40-0000-7000-8000-000000000001',
  name: 'chat',
  run_type: 'llm',
  start_time: '2026-11-20T10:00:00.000Z',
  end_time: '2026-11-20T10:00:01.000Z',
  inputs: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  outputs: {
    messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }],
    usage_metadata: { input_tokens: 8, output_tokens: 1, total_tokens: 9 },
  },
  extra: { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' } },
}

function run(command: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (done.status === 0) return done.stdout
  throw new Error(`${command} ${args.join(' ')}: exit code ${done.status}\n${done.stdout}${done.stderr}`)
}

function npm(args: readonly string[], cwd: string): string {
  return run('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], cwd)
}

/**
 * What npm says when the registry may answer otherwise soon: ETARGET because the packages of one release appear one after
 * the other, so that a version is missing that another package requires.
 */
const PASSING = /(?:ETARGET|ECONN|ETIMEDOUT|EAI_AGAIN|E50[0-9]|E429).*/

/** Installs a package with its dependencies. A refusal that may pass is tried again, for some minutes. */
async function install(archive: string, dir: string): Promise<void> {
  const until = performance.now() + INSTALL_MS
  for (;;) {
    try {
      npm(['install', '--omit=dev', '--prefer-online', archive], dir)
      return
    } catch (error) {
      const why = PASSING.exec(String(error))?.[0]
      if (why === undefined || performance.now() > until) throw error
      console.log(`the install is tried again: ${why}`)
      await delay(RETRY_MS)
    }
  }
}

function check(condition: boolean, what: string): void {
  if (!condition) throw new Error(`expected ${what}`)
  console.log(`ok   ${what}`)
}

interface Listening {
  url: string
  deployment_url: string
}

/** Waits until a server that was started from the installed package listens. Returns its URLs from its JSON log. */
async function listening(output: Readable): Promise<Listening> {
  const lines: string[] = []
  for await (const line of createInterface(output)) {
    lines.push(line)
    if (line.includes('"msg":"listening"')) return JSON.parse(line) as Listening
  }
  throw new Error(`the server ended without listening:\n${lines.join('\n')}`)
}

/** Asks the example graph, which is hosted by default; returns its answer. */
async function askExample(deployment_url: string, dir: string): Promise<string> {
  const key = (await readFile(join(dir, 'data/api-key'), 'utf8')).trim()
  const answer = await fetch(`${deployment_url}/runs/wait`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'agent', input: { messages: [{ role: 'user', content: 'Hi' }] } }),
  })
  return answer.text()
}

async function checkServer(weir: string, dir: string): Promise<void> {
  const { GRAPHS: _, ...inherited } = process.env
  const env = {
    ...inherited,
    HOST: '127.0.0.1',
    PORT: '0',
    DEPLOYMENT_PORT: '0',
    DATA_DIR: join(dir, 'data'),
  }
  const child = spawn(weir, ['serve'], { cwd: dir, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const deadline = setTimeout(() => child.kill('SIGKILL'), START_MS)
  try {
    const { url, deployment_url } = await listening(child.stdout)
    child.stdout.resume()
    const ok = await fetch(`${url}/ok`)
    check(ok.status === 200, 'the installed server to answer GET /ok')
    const docs = await fetch(`${url}/docs/swagger-ui-bundle.js`)
    check(docs.status === 200 && (await docs.text()).includes('SwaggerUIBundle'), 'the script of /docs')
    const page = await fetch(`${url}/app/`)
    check(
      page.status === 200 && (await page.text()).includes('/app/assets/'),
      'the installed server to serve its web interface',
    )
    const said = await askExample(deployment_url, dir)
    check(said.includes('You said: Hi'), 'the installed server to run its example graph')
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    check(code === 0, 'the installed server to stop on SIGTERM')
  } finally {
    clearTimeout(deadline)
    if (child.exitCode === null) child.kill('SIGKILL')
  }
}

/** A program that uses the package as a library, as the examples of its entries do. */
const LIBRARY = `
import { startServer } from 'weir'
import { readConfig } from 'weir/config'
const env = { DATA_DIR: './library-data', PORT: '0', DEPLOYMENT_PORT: '0', GRAPHS: '', LOG_LEVEL: 'error' }
const server = await startServer(readConfig(env))
const { status } = await fetch(server.url + '/ok')
await server.stop()
console.log('library', status)
`

async function checkLibrary(dir: string): Promise<void> {
  await writeFile(join(dir, 'library.mjs'), LIBRARY)
  const said = run(process.execPath, ['library.mjs'], dir)
  check(said.includes('library 200'), 'the package to start a server as a library')
}

async function packageVersion(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  return manifest.version
}

async function checkCommands(weir: string, dir: string): Promise<void> {
  const version = await packageVersion()
  check(run(weir, ['--version'], dir).includes(version), `weir --version to say ${version}`)
  await writeFile(join(dir, 'good.json'), JSON.stringify(GOOD_RUN))
  const report = run(weir, ['validate', '--format', 'json', 'good.json'], dir)
  check(JSON.parse(report) !== null, 'weir validate to accept a good run')
  await writeFile(join(dir, 'bad.json'), JSON.stringify({ ...GOOD_RUN, extra: {} }))
  const bad = spawnSync(weir, ['validate', 'bad.json'], { cwd: dir })
  check(bad.status === 1, 'weir validate to end with 1 for a run that fails a requirement')
}

/** Checks that the SBOM of the package lists its direct dependencies, and packages whose code it contains. */
async function checkSbom(dir: string): Promise<void> {
  const at = join(dir, 'node_modules/weir')
  const sbom = JSON.parse(await readFile(join(at, 'dist/sbom.cdx.json'), 'utf8')) as Sbom
  const manifest = JSON.parse(await readFile(join(at, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const refs = new Set(sbom.components.map((one) => one['bom-ref']))
  const missing = Object.entries(manifest.dependencies)
    .map(([name, version]) => `${name}@${version}`)
    .filter((ref) => !refs.has(ref))
  const isWhole = missing.length === 0 && [...refs].some((ref) => ref.startsWith('react-dom@'))
  check(isWhole, `dist/sbom.cdx.json to list the package's parts ${missing.join(', ')}`.trimEnd())
}

/** Packs the package, installs it in an empty folder without dev dependencies, and runs it there. */
async function main(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'weir-package-'))
  try {
    run(process.execPath, ['scripts/build.ts'], ROOT)
    npm(['pack', '--ignore-scripts', '--pack-destination', dir], ROOT)
    await writeFile(join(dir, 'package.json'), '{ "private": true }')
    await install(join(dir, `weir-${await packageVersion()}.tgz`), dir)
    const weir = join(dir, 'node_modules/.bin/weir')
    await checkSbom(dir)
    await checkCommands(weir, dir)
    await checkServer(weir, dir)
    await checkLibrary(dir)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

await main()
