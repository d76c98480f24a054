import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { quantile } from '../../test/support/deployments/neighbours.ts'
import { jsonBody, startWeir } from '../../test/support/servers/weir-process.ts'
import { temporaryDir } from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'

// How much slower three workspaces become while a fourth sends ten times what its limit allows (rule INGEST-16). Phases
// without it, at its limit and above it alternate; the ratio of p99 above it to without it must be below MOST:
//   node scripts/launch.mjs bench/load/rate-limits.bench.ts [rounds] [seconds]
// The load of the machine is printed.
const MOST = 1.5
const TIMES = 10
/** Of the limited workspace. A request has four traces of five runs. */
const RUNS_A_MINUTE = 6000
const RUNS_A_REQUEST = 20
const NEIGHBOURS = 3
/** Requests a second of each neighbour, each with one trace. */
const RATE = 10
const rounds = Number(process.argv[2] ?? 8)
const seconds = Number(process.argv[3] ?? 6)

/** Milliseconds in which the processes that send start: their start must not slow down what is measured. */
const START_MS = 3000
const SENDER = fileURLToPath(new URL('send-steadily.ts', import.meta.url))
const run = promisify(execFile)
const folder = await temporaryDir()
const weir = await startWeir(join(folder.dir, 'data'), {})

interface Sent {
  ms: number[]
  statuses: Record<string, number>
}

async function send(key: string, rate: number, traces: number): Promise<Sent> {
  const begin = Date.now() + START_MS
  const args = [SENDER, weir.url, key, rate, seconds, traces, begin].map(String)
  return JSON.parse((await run(process.execPath, args, { maxBuffer: 1e8 })).stdout) as Sent
}

/** A workspace of its own; returns its id and the key that sends to it. */
async function workspace(name: string): Promise<{ id: string; key: string }> {
  const { id } = await weir.json<{ id: string }>('/workspaces', jsonBody('POST', { display_name: name }))
  const asked = { description: name, role: 'user', workspaces: [id] }
  const { key } = await weir.json<{ key: string }>('/orgs/current/service-keys', jsonBody('POST', asked))
  return { id, key }
}

const limited = await workspace('limited')
const neighbours = await Promise.all(
  Array.from({ length: NEIGHBOURS }, (_, n) => workspace(`neighbour ${n}`)),
)
await weir.json(
  `/workspaces/${limited.id}/limits`,
  jsonBody('PUT', { ingest: { runs_per_minute: RUNS_A_MINUTE } }),
)
const OFF = 0
const LEVELS = { alone: OFF, 'beside its limit': 1, [`beside ${TIMES} times its limit`]: TIMES }

/** Seconds of the processor that the server's processes have used. */
async function cpuSeconds(pid: number): Promise<number> {
  const [stat, children] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''),
  ])
  const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const own = (Number(ticks[11] ?? 0) + Number(ticks[12] ?? 0)) / 100
  const below = await Promise.all(children.trim().split(' ').filter(Boolean).map(Number).map(cpuSeconds))
  return below.reduce((sum, one) => sum + one, own)
}

interface Phase {
  ms: number[]
  cpu: number
  statuses: Record<string, number>
}

/** The requests of all neighbours, while the limited workspace sends so many times its limit. */
async function phase(times: number): Promise<Phase> {
  const before = await cpuSeconds(weir.pid)
  const rate = (times * RUNS_A_MINUTE) / 60 / RUNS_A_REQUEST
  const [loud, ...sent] = await Promise.all([
    times === OFF ? undefined : send(limited.key, rate, RUNS_A_REQUEST / 5),
    ...neighbours.map(({ key }) => send(key, RATE, 1)),
  ])
  for (const { statuses } of sent)
    if (Object.keys(statuses).some((status) => status !== '202'))
      throw new Error(`a neighbour got ${JSON.stringify(statuses)}`)
  const cpu = (await cpuSeconds(weir.pid)) - before
  return { ms: sent.flatMap(({ ms }) => ms), cpu, statuses: loud?.statuses ?? {} }
}

await phase(TIMES) // warm
const phases = new Map<string, Phase[]>()
for (let n = 0; n < rounds; n++)
  for (const [name, times] of Object.entries(LEVELS))
    phases.set(name, [...(phases.get(name) ?? []), await phase(times)])
const p99 = new Map<string, number>()
for (const [name, all] of phases) {
  const ms = all.flatMap((one) => one.ms)
  const at = (share: number): string => quantile(ms, share).toFixed(1)
  p99.set(name, quantile(ms, 0.99))
  const cpu = all.reduce((sum, one) => sum + one.cpu, 0) / (rounds * seconds)
  const count = (status: string): number => all.reduce((sum, one) => sum + (one.statuses[status] ?? 0), 0)
  console.log(
    `neighbours ${name}: p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} ms of ${ms.length};`,
    `the limited one: ${count('202')} taken, ${count('429')} refused; the server: ${cpu.toFixed(2)} cores`,
  )
}
const [alone = 0, within = 0, above = 0] = p99.values()
const isGood = above / alone < MOST
console.log(
  `${isGood ? 'ok    ' : 'SLOWER'} p99 beside ${TIMES} times the limit to alone: ${(above / alone).toFixed(2)} (most: ${MOST}), to beside the limit: ${(above / within).toFixed(2)}; load ${os.loadavg()[0]?.toFixed(1)}`,
)
await weir.stop()
await folder.remove()
process.exitCode = isGood ? 0 : 1
