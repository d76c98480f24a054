import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@langchain/langgraph-sdk'
import { createLogger } from '../src/base/log.ts'
import { startStorageBroker } from '../src/graph/broker/storage-broker.ts'
import { readDeploymentFile } from '../src/graph/project/deployment-file.ts'
import { launchOf } from '../src/graph/pool/launch.ts'
import { readResidentBytes } from '../src/graph/pool/watch/memory-watch.ts'
import { PYTHON } from '../test/support/python.ts'
import { openHostWire } from '../test/support/runs/hosts/host-wire.ts'
import { KEY, startWeir } from '../test/support/servers/weir-process.ts'
import { temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'

// Measures Python hosts: start and memory, runs over HTTP with 1 and 32 connections (compared with LangGraph alone),
// tokens, and cancels:
//   node scripts/launch.mjs bench/python-hosts.bench.ts
const STARTS = 10
const RUNS = 100
const MANY_RUNS = 640
const CONNECTIONS = 32
const STREAMS = 8
const TOKENS = 1_000
const CANCELS = 20
const PASSES = 3

const GRAPHS = fileURLToPath(new URL('../test/fixtures/python-graphs/langgraph.json', import.meta.url))
const ALONE = fileURLToPath(new URL('load/invoke_graph.py', import.meta.url))
const VIRTUAL_ENV = join(PYTHON, '..', '..')
const INPUT = { messages: [{ role: 'user', content: 'hi' }] }
const run = promisify(execFile)

function print(what: string, values: readonly number[], unit: string): void {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const told = [sorted[0] ?? 0, at(0.5), at(0.95)].map((value) => value.toPrecision(3)).join(' / ')
  console.log(`${what.padEnd(46)} ${told} ${unit} (least / p50 / p95), load ${os.loadavg()[0]?.toFixed(1)}`)
}

/** CPU time of a process so far, in ms. */
async function cpuMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  // User and system time, in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Starts hosts without a server; prints the time and the CPU of their starts, and their memory without runs. */
async function starts(): Promise<void> {
  const broker = await startStorageBroker(createLogger({ level: 'silent' }))
  const nothing = async () => ({ body: {}, parts: [] })
  const operations = { get: nothing, list: nothing, marks: nothing, put: nothing }
  const { place } = broker.grant({ ...operations, put_writes: nothing, store_batch: nothing })
  const launch = launchOf(
    {
      file: await readDeploymentFile(GRAPHS, {}),
      storage: { broker: { ...place } },
      language: 'python',
      project: 'bench',
      environment: { PATH: process.env['PATH'], VIRTUAL_ENV },
      stallMs: 60_000,
      cancelGraceMs: 60_000,
      logger: createLogger({ level: 'silent' }),
      record: async () => async () => undefined,
    },
    await readDeploymentFile(GRAPHS, {}),
  )
  const [wall, cpu, memory]: [number[], number[], number[]] = [[], [], []]
  for (let n = 0; n < STARTS; n += 1) {
    const begun = performance.now()
    const { place: own } = broker.grant({ ...operations, put_writes: nothing, store_batch: nothing })
    const wire = openHostWire(launch, { ...launch.open, storage: { broker: { ...own } } })
    await wire.next('opened')
    wall.push(performance.now() - begun)
    cpu.push(await cpuMs(wire.pid))
    memory.push((readResidentBytes(wire.pid) ?? 0) / 1e6)
    wire.close()
    await wire.exited
  }
  await broker.close()
  print('start of a host', wall, 'ms')
  print('its CPU time', cpu, 'ms')
  print('its memory, idle', memory, 'MB')
}

await starts()

const folder = await temporaryDir()
const weir = await startWeir(folder.dir, { GRAPHS, DEPLOYMENT_NAME: 'bench', VIRTUAL_ENV })
const client = new Client({
  apiUrl: `${weir.url}/deployments/bench`,
  apiKey: KEY,
  callerOptions: { maxConcurrency: 1_000 },
})
const once = async (): Promise<number> => {
  const begun = performance.now()
  await client.runs.wait(null, 'tokens', { input: INPUT })
  return performance.now() - begun
}

async function oneConnection(): Promise<void> {
  const times: number[] = []
  for (let n = 0; n < RUNS; n += 1) times.push(await once())
  print('waited-for run of three nodes, 1 connection', times, 'ms')
}

/** Measures LangGraph alone, then Weir, over many connections. */
async function manyConnections(): Promise<void> {
  const args = [ALONE, String(MANY_RUNS), String(CONNECTIONS)]
  const { stdout } = await run(PYTHON, args, { cwd: join(GRAPHS, '..') })
  const [alone = 0, cpu = 0] = stdout.trim().split(' ').map(Number)
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let n = 0; n < MANY_RUNS / CONNECTIONS; n += 1) await once()
    }),
  )
  const own = (MANY_RUNS / (performance.now() - begun)) * 1_000
  console.log(
    `runs at ${CONNECTIONS} connections: Weir ${own.toFixed(0)}/s, LangGraph alone ${alone}/s (${cpu} ms CPU each), share ${(own / alone).toFixed(2)}, load ${os.loadavg()[0]?.toFixed(1)}`,
  )
}

async function tokens(): Promise<void> {
  const firsts: number[] = []
  const begun = performance.now()
  const counts = await Promise.all(
    Array.from({ length: STREAMS }, async () => {
      let count = 0
      const input = { ...INPUT, tokens: TOKENS }
      for await (const { event } of client.runs.stream(null, 'tokens', {
        input,
        streamMode: 'messages-tuple',
      }))
        if (event === 'messages') count += 1
      return count
    }),
  )
  const rate = (STREAMS * TOKENS * 1_000) / (performance.now() - begun)
  for (let n = 0; n < CANCELS; n += 1) {
    const started = performance.now()
    for await (const { event } of client.runs.stream(null, 'tokens', {
      input: INPUT,
      streamMode: 'messages-tuple',
    }))
      if (event === 'messages') {
        firsts.push(performance.now() - started)
        break
      }
  }
  console.log(`${STREAMS} streams of ${TOKENS} tokens: ${counts.join(', ')} received, ${rate.toFixed(0)}/s`)
  print('first token of a stream', firsts, 'ms')
}

/** Measures how long a cancel takes for runs whose node awaits something. */
async function cancels(): Promise<void> {
  for (const action of ['interrupt', 'rollback'] as const) {
    const times: number[] = []
    for (let n = 0; n < CANCELS; n += 1) {
      const { thread_id } = await client.threads.create()
      const { run_id } = await client.runs.create(thread_id, 'kinds', { input: { kind: 'slow' } })
      for await (const { event, data } of client.runs.joinStream(thread_id, run_id))
        if (event === 'values' && (data as { log: string[] }).log.length === 1) break
      const begun = performance.now()
      await client.runs.cancel(thread_id, run_id, true, action)
      times.push(performance.now() - begun)
    }
    print(`cancel with ${action}, until it has ended`, times, 'ms')
  }
}

for (let pass = 0; pass < PASSES; pass += 1) {
  await oneConnection()
  await manyConnections()
  await tokens()
  await cancels()
}
await weir.stop()
await folder.remove()
