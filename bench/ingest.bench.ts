import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// The rate of durable acknowledgements, compared with that of a server that only reads and parses the same bodies. The
// two alternate in one run:
//   node scripts/launch.mjs bench/ingest.bench.ts [traces] [rounds]
const KEY = 'bench-key-0123456789'
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const run = promisify(execFile)

interface LoadResult {
  traces_per_s: number
  mb_per_s: number
  ack_ms: { p50: number; p95: number; p99: number; max: number }
  errors: Record<string, number>
}

/** Starts a script and resolves with the URL in the first JSON line that has one. */
async function start(
  script: string,
  args: string[],
  env: Record<string, string>,
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [here(script), ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = line.startsWith('{') ? (JSON.parse(line) as { url?: string }) : {}
    if (url !== undefined) return { child, url }
  }
  throw new Error(`${script} did not start`)
}

async function load(url: string, traces: number, concurrency: number): Promise<LoadResult> {
  const { stdout } = await run(process.execPath, [
    here('load/send-load.ts'),
    url,
    KEY,
    String(traces),
    String(concurrency),
  ])
  return JSON.parse(stdout) as LoadResult
}

async function ask(url: string, path: string): Promise<string> {
  return (await fetch(new URL(path, url), { headers: { 'x-api-key': KEY } })).text()
}

/** Waits until everything acknowledged is stored and derived; returns the seconds. */
async function drain(url: string): Promise<number> {
  const started = performance.now()
  while ((JSON.parse(await ask(url, '/api/v1/ingest/health')) as { waiting: number }).waiting > 0)
    await new Promise((resolve) => setTimeout(resolve, 20))
  return (performance.now() - started) / 1000
}

/** Resident memory in MB of a process and its children. */
async function memory(pid: number): Promise<number> {
  const pids = [pid]
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid) pids.push(Number(name))
    } catch {
      // The process has ended while its children were counted.
    }
  }
  return pids.reduce(
    (sum, one) => sum + (Number(readFileSync(`/proc/${one}/statm`, 'utf8').split(' ')[1]) * 4096) / 1e6,
    0,
  )
}

const metric = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN)

const traces = Number(process.argv[2] ?? 6000)
const rounds = Number(process.argv[3] ?? 3)
const dataDir = await mkdtemp(join(tmpdir(), 'weir-bench-'))
const weir = await start('../src/main.ts', ['serve'], {
  DATA_DIR: dataDir,
  PORT: '0',
  DEPLOYMENT_PORT: '0',
  BOOTSTRAP_API_KEY: KEY,
  LOG_LEVEL: 'info',
})
const sink = await start('load/parse-sink.ts', [], {})
await new Promise((resolve) => setTimeout(resolve, 3000))
console.log(`idle memory of all processes: ${(await memory(weir.child.pid!)).toFixed(0)} MB`)
await load(weir.url, 1000, 8)
await drain(weir.url)
for (const concurrency of [8, 32]) {
  for (let round = 0; round < rounds; round++) {
    const floor = await load(sink.url, traces, concurrency)
    await ask(weir.url, '/metrics')
    const ours = await load(weir.url, traces, concurrency)
    const used = await memory(weir.child.pid!)
    const metrics = await ask(weir.url, '/metrics')
    const drained = await drain(weir.url)
    const stored = traces / (traces / ours.traces_per_s + drained)
    console.log(
      `c=${concurrency} weir ${ours.traces_per_s} traces/s acknowledged, ${stored.toFixed(0)} stored (${ours.mb_per_s} MB/s), sink ${floor.traces_per_s}, ratio ${(ours.traces_per_s / floor.traces_per_s).toFixed(2)}`,
      `| ack p50 ${ours.ack_ms.p50} p99 ${ours.ack_ms.p99} max ${ours.ack_ms.max} ms`,
      `| loop delay p99.9 ${(metric(metrics, 'nodejs_event_loop_delay_p999_seconds') * 1000).toFixed(0)} max ${(metric(metrics, 'nodejs_event_loop_delay_max_seconds') * 1000).toFixed(0)} ms`,
      `| memory ${used.toFixed(0)} MB | drained in ${drained.toFixed(1)} s | errors ${JSON.stringify(ours.errors)}`,
    )
  }
}
weir.child.kill('SIGTERM')
sink.child.kill('SIGTERM')
await new Promise((resolve) => weir.child.once('exit', resolve))
await rm(dataDir, { recursive: true, force: true })
