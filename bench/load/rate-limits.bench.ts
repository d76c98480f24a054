import { execFile } from 'node:child_process'
import os from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { quantile } from '../../test/support/neighbours.ts'
import { jsonBody, startWeir } from '../../test/support/servers/weir-process.ts'
import { temporaryDir } from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'

// How much slower three workspaces become while a fourth sends ten times what its limit allows (rule INGEST-16). Rounds
// without and with it alternate; the ratio of their p99 must be below MOST:
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
const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 12)

const SENDER = fileURLToPath(new URL('send-steadily.ts', import.meta.url))
const run = promisify(execFile)
const folder = await temporaryDir()
const weir = await startWeir(join(folder.dir, 'data'), {})

interface Sent {
  ms: number[]
  statuses: Record<string, number>
}

async function send(key: string, rate: number, traces: number): Promise<Sent> {
  const args = [SENDER, weir.url, key, rate, seconds, traces].map(String)
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
const rate = (TIMES * RUNS_A_MINUTE) / 60 / RUNS_A_REQUEST

/** The milliseconds of all neighbours, while the limited workspace sends or not. */
async function round(isLoud: boolean): Promise<{ ms: number[]; loud: Sent | undefined }> {
  const [loud, ...sent] = await Promise.all([
    isLoud ? send(limited.key, rate, RUNS_A_REQUEST / 5) : undefined,
    ...neighbours.map(({ key }) => send(key, RATE, 1)),
  ])
  for (const { statuses } of sent)
    if (Object.keys(statuses).some((status) => status !== '202'))
      throw new Error(`a neighbour got ${JSON.stringify(statuses)}`)
  return { ms: sent.flatMap(({ ms }) => ms), loud }
}

function print(what: string, ms: readonly number[]): void {
  const at = (share: number): string => quantile(ms, share).toFixed(1)
  console.log(
    `${what.padEnd(36)} p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} ms of ${ms.length}, load ${os.loadavg()[0]?.toFixed(1)}`,
  )
}

await round(true) // warm, and the limit's burst of a minute is used up
const all = { alone: [] as number[], beside: [] as number[], loud: [] as number[] }
const statuses: Record<string, number> = {}
for (let n = 0; n < rounds; n++) {
  all.alone.push(...(await round(false)).ms)
  const { ms, loud } = await round(true)
  all.beside.push(...ms)
  all.loud.push(...(loud?.ms ?? []))
  for (const [status, count] of Object.entries(loud?.statuses ?? {}))
    statuses[status] = (statuses[status] ?? 0) + count
}
print('neighbours alone', all.alone)
print(`beside ${TIMES} times the limit`, all.beside)
print(`the limited one, ${JSON.stringify(statuses)}`, all.loud)
const ratio = quantile(all.beside, 0.99) / quantile(all.alone, 0.99)
const isGood = ratio < MOST
console.log(
  `${isGood ? 'ok    ' : 'SLOWER'} p99 of neighbours beside it to alone: ${ratio.toFixed(2)} (most: ${MOST})`,
)
await weir.stop()
await folder.remove()
process.exitCode = isGood ? 0 : 1
