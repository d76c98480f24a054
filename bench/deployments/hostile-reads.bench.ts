import os from 'node:os'
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
import { startWeir } from '../../test/support/servers/weir-process.ts'
import { temporaryDir } from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'

// How much slower others' calls are while builds and graphs leave what harms who reads it, as a ratio of their 99th
// percentiles to those beside honest builds. Ends with exit code 1 if a ratio is above MOST (D-64):
//   node scripts/launch.mjs bench/deployments/hostile-reads.bench.ts
const MOST = 3
/** Milliseconds of a turn of a busy machine's scheduler: shorter times count as this. */
const FLOOR_MS = 50

const folder = await temporaryDir()
const weir = await startWeir(folder.dir, {
  DEPLOY_BUILDS: '4',
  DEPLOY_START_SECONDS: '120',
})
const { id } = await createDeployment(weir, 'innocent')
await endedRevision(weir, id, (await addRevision(weir, id, await archiveOf(greeter('hello')))).id)

const p99 = (values: readonly number[]): number => Math.max(quantile(values, 0.99), FLOOR_MS)

async function measure(work: () => Promise<unknown>): Promise<CallTimes> {
  return (await callMeanwhile(weir, 'innocent', work())).times
}

// Honest builds, so that the work of building itself is part of what is usual.
const usual = await measure(() =>
  Promise.all([1, 2, 3, 4].map((n) => deployBuilt(weir, `honest-${n}`, 'sleep 3'))),
)
const builds = await measure(() =>
  Promise.all(BUILDS.map(([what, command]) => deployBuilt(weir, `build-${what}`, command))),
)
await deployAttackers(weir)
const runs = await measure(() => runAttackers(weir))

for (const [when, times] of Object.entries({ builds, runs }))
  for (const kind of ['ok', 'ingest', 'run'] as const) {
    const [now, before] = [p99(times[kind]), p99(usual[kind])]
    const ratio = (now / before).toFixed(2)
    console.log(
      `${kind} beside hostile ${when}: p99 ${now.toFixed(0)} ms, ${ratio} times ${before.toFixed(0)} ms beside honest builds`,
    )
    if (now > MOST * before) process.exitCode = 1
  }
console.log(`load ${os.loadavg()[0]?.toFixed(1)}`)
await weir.stop()
await folder.remove()
