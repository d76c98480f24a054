import { readFile } from 'node:fs/promises'
import os from 'node:os'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  latestRevision,
  type Project,
} from '../test/support/deploy-project.ts'
import { eventually } from '../test/support/eventually.ts'
import { temporaryDir } from '../test/support/stores/embedded-clickhouse.ts'
import { jsonBody, startWeir } from '../test/support/servers/weir-process.ts'

// What deployments of the control plane cost: the time of an update of two graphs whose dependencies are cached, and of
// a rollback; the memory of an idle deployment; and how much slower the runs of one deployment are beside one whose
// graph loops and one whose graph leaks memory.
//   node scripts/launch.mjs bench/deployments.bench.ts
const UPDATES = 10
const RUNS = 200

const folder = await temporaryDir()
const weir = await startWeir(folder.dir, { HOST_STALL_SECONDS: '5' })

const graph = (node: string): string => `
  import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
  const State = Annotation.Root({ n: Annotation<number>() })
  export const graph = new StateGraph(State).addNode('work', ${node}).addEdge(START, 'work').addEdge('work', END).compile()
`
function project(node: string, version: number): Project {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph', other: './other.ts:graph' } }),
    'package.json': JSON.stringify({ name: 'bench', version: `1.0.${version}`, type: 'module' }),
    'agent.ts': graph(node),
    'other.ts': graph(`() => ({ n: ${version} })`),
  }
}
const WELL = '() => ({ n: 1 })'
const LOOPS = '() => { while (true) {} }'
const LEAKS =
  'async () => { const kept = []; for (;;) { kept.push(Buffer.alloc(1 << 20, 1)); await new Promise((r) => setTimeout(r, 5)) } }'

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
  return performance.now() - started
}

function print(what: string, values: readonly number[], unit: string): void {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(1)
  const load = os.loadavg()[0]?.toFixed(1)
  console.log(`${what.padEnd(44)} p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} ${unit}, load ${load}`)
}

/** Resident bytes of the server and of all of its processes. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const own = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
  const below = await Promise.all(
    children
      .trim()
      .split(' ')
      .filter(Boolean)
      .map((child) => residentBytes(Number(child))),
  )
  return below.reduce((sum, bytes) => sum + bytes, own)
}

const run = (name: string): Promise<unknown> =>
  weir.json(`/deployments/${name}/runs/wait`, jsonBody('POST', { assistant_id: 'agent', input: {} }))

async function latencies(): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < RUNS; n += 1) {
    const started = performance.now()
    await run('well')
    times.push(performance.now() - started)
  }
  return times
}

const well = await createDeployment(weir, 'well')
await deploy(well.id, project(WELL, 0))
const updates: number[] = []
for (let n = 1; n <= UPDATES; n += 1) updates.push(await deploy(well.id, project(WELL, n)))
print('update of two graphs', updates, 'ms')

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
await run('well')
await latencies()
const alone = await latencies()
print('runs of one deployment, alone', alone, 'ms')

const before = await residentBytes(weir.pid)
await deploy(others[0].id, project(LOOPS, 0))
const after = await residentBytes(weir.pid)
console.log(`memory of a further deployment               ${((after - before) / 1e6).toFixed(0)} MB`)
await deploy(others[1].id, project(LEAKS, 0))

let isOver = false
const disturb = async (name: string): Promise<void> => {
  while (!isOver) await run(name).catch(() => undefined)
}
const disturbing = [disturb('loops'), disturb('leaks')]
await eventually(async () => {
  const page = await weir.json<{ logs: { message: string }[] }>(
    `/api-host/v1/projects/${others[0].id}/deploy_logs`,
    jsonBody('POST', { query: 'has ended' }),
  )
  if (page.logs.length === 0) throw new Error('no host has been blocked yet')
})
print('the same, beside one that loops and one that leaks', await latencies(), 'ms')
isOver = true
await weir.stop()
await Promise.all(disturbing)
await folder.remove()
