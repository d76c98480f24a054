import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import os from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  greeter,
} from '../../test/support/deployments/deploy-project.ts'
import {
  BUILDS,
  callMeanwhile,
  type CallTimes,
  deployAttackers,
  deployBuilt,
  runAttackers,
} from '../../test/support/deployments/hostile-reads.ts'
import { quantile } from '../../test/support/deployments/neighbours.ts'
import { jsonBody, startWeir } from '../../test/support/servers/weir-process.ts'
import { temporaryDir } from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'

// All kinds of attacks on one server at once, for MINUTES (default 10): how slow the calls of others are meanwhile, and
// whether the server lives and has every trace that it acknowledged. Ends with an error if one of these fails (D-64):
//   node scripts/launch.mjs bench/deployments/all-attacks.bench.ts
const MINUTES = Number(process.env['MINUTES'] ?? 10)
const USUAL_MS = 30_000
/** Traces that are looked for with one query. */
const PAGE = 100

const folder = await temporaryDir()
const weir = await startWeir(folder.dir, { DEPLOY_BUILDS: '4', DEPLOY_START_SECONDS: '120' })
const { id } = await createDeployment(weir, 'innocent')
await endedRevision(weir, id, (await addRevision(weir, id, await archiveOf(greeter('hello')))).id)
await deployAttackers(weir)
// The attackers' own key: memory for bodies is shared out between keys.
const wanted = jsonBody('POST', { description: 'attacks', role: 'user' })
const { key } = await weir.json<{ key: string }>('/api/v1/orgs/current/service-keys', wanted)

const statuses: Record<string, number> = {}
let isOver = false

type Request = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

async function attack(what: string, path: string, init: Request = {}): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key, ...init.headers }
  const answer = await fetch(weir.url + path, { ...init, headers }).catch(() => undefined)
  await answer?.arrayBuffer().catch(() => undefined)
  const seen = `${what} ${answer?.status ?? 'cut'}`
  statuses[seen] = (statuses[seen] ?? 0) + 1
}

const zeros = Buffer.alloc(256 << 20, 32)
const BOMBS: readonly (readonly [encoding: string, body: Buffer<ArrayBuffer>])[] = [
  ['gzip', gzipSync(zeros, { level: 1 })],
  ['br', brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['zstd', zstdCompressSync(zeros)],
]
const deep = (): string => {
  const value = '['.repeat(200_000) + ']'.repeat(200_000)
  return `{"id":"${randomUUID()}","name":"deep","run_type":"chain","start_time":"${new Date().toISOString()}","inputs":{"a":${value}}}`
}

let builds = 0
const ATTACKS: readonly (() => Promise<unknown>)[] = [
  async () => {
    const [what, command] = BUILDS[builds++ % BUILDS.length]!
    const name = `${what}-${builds}`
    const { status } = await deployBuilt(weir, name, command)
    statuses[`build ${status}`] = (statuses[`build ${status}`] ?? 0) + 1
    const { resources } = await weir.json<{ resources: { id: string; name: string }[] }>(
      '/v2/deployments?limit=100',
    )
    const built = resources.find((one) => one.name === name)
    if (built) await weir.fetch(`/v2/deployments/${built.id}`, { method: 'DELETE' })
  },
  () => runAttackers(weir),
  async () => {
    for (const [encoding, body] of BOMBS)
      await attack('bomb', '/runs/batch', {
        method: 'POST',
        body,
        headers: { 'content-encoding': encoding },
      })
  },
  () => attack('deep', '/runs', { method: 'POST', body: deep() }),
  () => attack('deep query', '/api/v1/runs/query', { method: 'POST', body: '['.repeat(200_000) }),
  () => attack('guessed key', '/api/v1/workspaces', { headers: { 'x-api-key': `lsv2_pt_${randomUUID()}` } }),
  () => attack('guessed share', `/api/v1/public/${randomUUID()}/run`),
  () => attack('search', '/api/v1/runs/query', { method: 'POST', body: '{"filter":"search(\\"absent\\")"}' }),
  () => slowHeads(200),
]

/** Opens connections that send a head without an end, and holds them until the server has closed them. */
async function slowHeads(count: number): Promise<void> {
  const { hostname, port } = new URL(weir.url)
  const closed = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined).write('GET /ok HTTP/1.1\r\nhost: x\r\n')
    return new Promise((resolve) => socket.resume().once('close', resolve))
  })
  await Promise.all(closed)
}

async function keepAttacking(): Promise<void> {
  const over = delay(MINUTES * 60_000).then(() => (isOver = true))
  const lanes = ATTACKS.map(async (once) => {
    while (!isOver) await once()
  })
  await Promise.all([over, ...lanes])
}

const residentMb = async (): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${weir.pid}/status`, 'utf8'))?.[1]) >> 10

/** The acknowledged traces that the store does not have. */
async function lostOf(traces: readonly string[]): Promise<string[]> {
  const stored = new Set<string>()
  for (let at = 0; at < traces.length; at += PAGE) {
    const asked = { id: traces.slice(at, at + PAGE), select: ['id'], limit: PAGE }
    const { runs } = await weir.json<{ runs: { id: string }[] }>(
      '/api/v1/runs/query',
      jsonBody('POST', asked),
    )
    for (const run of runs) stored.add(run.id)
  }
  return traces.filter((trace) => !stored.has(trace))
}

function report(when: string, times: CallTimes): void {
  for (const kind of ['ok', 'ingest', 'run'] as const) {
    const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(times[kind], share).toFixed(0))
    console.log(`${when}: ${kind} ${times[kind].length} calls, p50 ${p50} ms, p99 ${p99} ms, most ${most} ms`)
  }
  console.log(`load ${os.loadavg()[0]?.toFixed(1)}`)
}

report('usual', (await callMeanwhile(weir, 'innocent', delay(USUAL_MS))).times)
const before = await residentMb()
const { times, traces } = await callMeanwhile(weir, 'innocent', keepAttacking())
report('attacked', times)
await weir.drained()
const lost = await lostOf(traces)
console.log(`attacks: ${JSON.stringify(statuses)}`)
console.log(
  `memory ${before} MB before, ${await residentMb()} MB after; ${traces.length} traces acknowledged, ${lost.length} lost`,
)
if (!weir.isAlive() || lost.length > 0) process.exitCode = 1
await weir.stop()
await folder.remove()
