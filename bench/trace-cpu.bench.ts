import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { childrenOf, commandOf, processSeconds, threadTimes } from './load/thread-times.ts'

// CPU time of a trace until it is stored and derived, by process and thread, and traces stored a second. With another
// checkout the two take turns, and their ratio is printed:
//   node scripts/launch.mjs bench/trace-cpu.bench.ts [traces] [rounds] [other checkout] [NAME=VALUE for this one …]
const KEY = 'bench-key-0123456789'
const CONNECTIONS = '16'
const here = fileURLToPath(new URL('.', import.meta.url))
const run = promisify(execFile)

interface Server {
  title: string
  child: ChildProcess
  url: string
  dataDir: string
  /** Milliseconds of CPU a trace, and traces stored a second, of each round. */
  rounds: { cpu: number; stored: number }[]
}

async function start(title: string, root: string, more: Record<string, string>): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-bench-'))
  const env = {
    PATH: process.env['PATH'] ?? '',
    DATA_DIR: dataDir,
    PORT: '0',
    DEPLOYMENT_PORT: '0',
    OTLP_GRPC_PORT: 'off',
    BOOTSTRAP_API_KEY: KEY,
    ...more,
  }
  const child = spawn(process.execPath, [...process.execArgv, join(root, 'src/main.ts'), 'serve'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = line.startsWith('{') ? (JSON.parse(line) as { url?: string }) : {}
    if (url !== undefined) {
      child.stdout.resume()
      return { title, child, url, dataDir, rounds: [] }
    }
  }
  throw new Error(`${title} did not start`)
}

async function drain(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(new URL('/api/v1/ingest/health', url), { headers: { 'x-api-key': KEY } })
    if (((await answer.json()) as { waiting: number }).waiting === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** CPU seconds by process and thread. */
function cpuOf(pid: number): { total: number; parts: Map<string, number> } {
  const parts = new Map([...threadTimes(pid)].map(([name, seconds]) => [`server ${name}`, seconds]))
  let total = processSeconds(pid)
  for (const child of childrenOf(pid)) {
    const seconds = processSeconds(child)
    total += seconds
    const name = /clickhouse|embedded/.test(commandOf(child)) ? 'ClickHouse' : 'other'
    if (name === 'ClickHouse')
      for (const [thread, value] of threadTimes(child)) parts.set(`${name} ${thread}`, value)
    else parts.set(`${name} ${child}`, seconds)
  }
  return { total, parts }
}

async function round(server: Server, traces: number): Promise<void> {
  const before = cpuOf(server.child.pid!)
  const started = performance.now()
  await run(process.execPath, [join(here, 'load/send-load.ts'), server.url, KEY, String(traces), CONNECTIONS])
  await drain(server.url)
  const seconds = (performance.now() - started) / 1000
  const after = cpuOf(server.child.pid!)
  // The generator sends 200 traces more to warm up.
  const sent = traces + 200
  const cpu = ((after.total - before.total) * 1000) / sent
  server.rounds.push({ cpu, stored: sent / seconds })
  const parts = new Map<string, number>()
  for (const [name, value] of after.parts) {
    const used = ((value - (before.parts.get(name) ?? 0)) * 1000) / sent
    const group = name.replace(/ \d+$/, '')
    parts.set(group, (parts.get(group) ?? 0) + used)
  }
  const shown = [...parts].filter(([, used]) => used >= 0.005).toSorted(([, a], [, b]) => b - a)
  console.log(
    `${server.title}: ${cpu.toFixed(3)} ms of CPU a trace, ${(sent / seconds).toFixed(0)} stored a second |`,
    shown.map(([name, used]) => `${name} ${used.toFixed(3)}`).join(', '),
  )
}

const [traces = '4000', rounds = '3', other, ...settings] = process.argv.slice(2)
const more = Object.fromEntries(settings.map((setting) => setting.split('=') as [string, string]))
const servers = [await start('this', fileURLToPath(new URL('..', import.meta.url)), more)]
if (other !== undefined) servers.push(await start('other', other, {}))
for (const server of servers) await round(server, 2000) // compiles the code
for (const server of servers) server.rounds.length = 0
for (let i = 0; i < Number(rounds); i++)
  for (const server of i % 2 === 0 ? servers : servers.toReversed()) await round(server, Number(traces))
const least = ({ rounds: all }: Server): number => Math.min(...all.map(({ cpu }) => cpu))
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
for (const server of servers)
  console.log(
    `${server.title}: least ${least(server).toFixed(3)}, median ${median(server.rounds.map(({ cpu }) => cpu)).toFixed(3)} ms of CPU a trace, median ${median(server.rounds.map(({ stored }) => stored)).toFixed(0)} stored a second`,
  )
for (const { child, dataDir } of servers) {
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  await rm(dataDir, { recursive: true, force: true })
}
