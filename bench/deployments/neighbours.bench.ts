import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  latestRevision,
  type Project,
} from '../../test/support/deployments/deploy-project.ts'
import { eventually } from '../../test/support/eventually.ts'
import {
  graphOf,
  keepRunning,
  latencies,
  NODES,
  quantile,
  runOnce,
} from '../../test/support/deployments/neighbours.ts'
import { temporaryDir } from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { jsonBody, startWeir } from '../../test/support/servers/weir-process.ts'

// The costs of deployments: the time of an update of two graphs with cached dependencies, and of a rollback; the memory
// of an idle deployment; and how much slower the runs of one deployment are while the graph of another loops or leaks
// memory:
//   npm run bench:deploy
const UPDATES = 10
const RUNS = 200
/** Number of idle deployments that are added to measure the memory of one. */
const IDLE = 5

const folder = await temporaryDir()
const weir = await startWeir(folder.dir, { HOST_STALL_SECONDS: '5' })

function project(node: string, version: number): Project {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph', other: './other.ts:graph' } }),
    'package.json': JSON.stringify({ name: 'bench', version: `1.0.${version}`, type: 'module' }),
    'agent.ts': graphOf(node),
    'other.ts': graphOf(`() => ({ n: ${version} })`),
  }
}

/** Milliseconds that each step of the updates took. */
const steps = new Map<string, number[]>()

/** Uploads and deploys the project; resolves with the milliseconds from the request to DEPLOYED. */
async function deploy(id: string, source: Project): Promise<number> {
  const archive = await archiveOf(source)
  const started = performance.now()
  const { id: revision_id } = await addRevision(weir, id, archive)
  return await timeUntilEnded(id, revision_id, started)
}

async function timeUntilEnded(id: string, revision_id: string, started: number): Promise<number> {
  const { status, weir: facts } = await endedRevision(weir, id, revision_id)
  if (status !== 'DEPLOYED') throw new Error(`${status}: ${JSON.stringify(facts)}`)
  for (const [step, ms] of Object.entries(facts.timings))
    steps.set(step, [...(steps.get(step) ?? []), Number(ms)])
  return performance.now() - started
}

function print(what: string, values: readonly number[], unit: string): void {
  const at = (share: number): string => quantile(values, share).toFixed(1)
  const load = os.loadavg()[0]?.toFixed(1)
  console.log(`${what.padEnd(44)} p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} ${unit}, load ${load}`)
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(1)

/** Resident bytes of a process and of its descendants, by pid. */
async function residentBytes(pid: number): Promise<Map<number, number>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const own = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
  const pids = children.trim().split(' ').filter(Boolean).map(Number)
  const below = await Promise.all(pids.map(residentBytes))
  return new Map([[pid, own], ...below.flatMap((found) => [...found])])
}

const well = await createDeployment(weir, 'well')
await deploy(well.id, project(NODES.well, 0))
const updates: number[] = []
for (let n = 1; n <= UPDATES; n += 1) updates.push(await deploy(well.id, project(NODES.well, n)))
print('update of two graphs', updates, 'ms')
for (const [step, times] of steps) print(`  its step "${step}"`, times, 'ms')

const { resources } = await weir.json<{ resources: { id: string }[] }>(
  `/api-host/v2/deployments/${well.id}/revisions?limit=2`,
)
const started = performance.now()
await weir.json(`/api-host/v2/deployments/${well.id}/revisions/${resources[1]?.id}/redeploy`, {
  method: 'POST',
})
const { id: back } = await latestRevision(weir, well.id)
print('rollback', [await timeUntilEnded(well.id, back, started)], 'ms')

const others = [await createDeployment(weir, 'loops'), await createDeployment(weir, 'leaks')] as const
const idle = []
for (let n = 0; n < IDLE; n += 1) idle.push(await createDeployment(weir, `idle-${n}`))
await runOnce(weir, 'well')
await latencies(weir, 'well', RUNS)
const alone = await latencies(weir, 'well', RUNS)
print('runs of one deployment, alone', alone, 'ms')

// Hosts release the memory that loading took after ten seconds without work, so memory is measured later.
const REST_MS = 15_000
await delay(REST_MS)
const before = await residentBytes(weir.pid)
for (const { id } of idle) await deploy(id, project(NODES.well, 0))
await delay(REST_MS)
const after = await residentBytes(weir.pid)
const added = [...after].filter(([pid]) => !before.has(pid)).reduce((sum, [, bytes]) => sum + bytes, 0)
const more = (after.get(weir.pid) ?? 0) - (before.get(weir.pid) ?? 0)
console.log(
  `memory of each of ${IDLE} further, idle deployments ${mb(added / IDLE)} MB, the server ${mb(more / IDLE)} MB more`,
)
await deploy(others[0].id, project(NODES.loops, 0))
await deploy(others[1].id, project(NODES.leaks, 0))

const ends = [keepRunning(weir, 'loops'), keepRunning(weir, 'leaks')]
await eventually(async () => {
  const page = await weir.json<{ logs: { message: string }[] }>(
    `/api-host/v1/projects/${others[0].id}/deploy_logs`,
    jsonBody('POST', { query: 'has ended' }),
  )
  if (page.logs.length === 0) throw new Error('no host has been blocked yet')
})
print('the same, beside one that loops and one that leaks', await latencies(weir, 'well', RUNS), 'ms')
const ended = Promise.all(ends.map((end) => end()))
await weir.stop()
await ended
await folder.remove()
