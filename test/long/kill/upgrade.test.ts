import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import type { EngineAddress } from '../../../src/storage/clickhouse/embedded/address.ts'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { BLOWS, killRounds } from '../../support/faults/kill/kill-rounds.ts'
import { noForgetfulDisk, openForgetfulDisk } from '../../support/faults/stores/forgetful-disk.ts'
import { startProxiedStore } from '../../support/faults/stores/proxied-store.ts'
import { storeOutage } from '../../support/faults/stores/store-outage.ts'
import { startLoad } from '../../support/servers/load.ts'
import { startWeir } from '../../support/servers/weir-process.ts'
import {
  startTestClickHouse,
  temporaryDir,
  until,
} from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import {
  earlierProject,
  expectUpgraded,
  fillEarlier,
} from '../../support/stores/clickhouse/upgraded-store.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { storedFaults } from '../../support/traces/stored-traces.ts'
import { usageRounds } from '../../support/usage/rounds.ts'

// Each round kills a server while it upgrades a store, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: 3 * LONG_MS, hookTimeout: LONG_MS })

const RUNS = campaign(200_000, 20_000)
const STARTS = campaign(8, 3)
const TIMES = campaign(4)
const TRACES = campaign(20_000)
const KILLS = campaign(8, 2)
const CUTS = campaign(6)
/** Small, since the disk of a power cut has a copy of all that was synced. */
const CUT_RUNS = 20_000
const OUTAGE_SECONDS = campaign(30, 10)
/** Seconds in which a start migrates the tables; a kill comes within this time. */
const START_SECONDS = 12
const ENGINE = fileURLToPath(new URL('../../support/stores/clickhouse/embedded-parent.ts', import.meta.url))
const project = earlierProject(RUNS)

/** Starts on the folder that are killed at random moments, most of them before the tables are migrated. */
async function killStarts(dataDir: string): Promise<void> {
  for (let start = 0; start < STARTS; start++) {
    const seconds = (0.5 + Math.random() * START_SECONDS).toFixed(2)
    const started = startWeir(dataDir, {}, [], undefined, ['timeout', '-s', 'KILL', seconds])
    const weir = await started.catch(() => undefined)
    if (weir !== undefined) await until('it is killed', () => !weir.isAlive())
  }
}

it(`an upgrade of ${RUNS} runs that is killed ${STARTS} times at the start, and under load ${TIMES * BLOWS.length} times, loses nothing and has nothing twice`, async () => {
  const blows = Array.from({ length: TIMES }, () => BLOWS).flat()
  const acknowledged = await killRounds(blows, {
    async make(dataDir) {
      const engine = await startTestClickHouse(dataDir)
      await fillEarlier(engine, project)
      await engine.stop()
      await killStarts(dataDir)
    },
    check: (weir) => expectUpgraded(weir, project),
  })
  console.log(`${acknowledged} TraceRuns acknowledged during the upgrade, none lost, none twice`)
  expect(acknowledged).toBeGreaterThan(blows.length * 50)
})

const reason = withoutPostgres()

it.skipIf(reason !== '')(
  `USAGE-13: usage is exact for ${TRACES} traces and ${KILLS} kills while two servers upgrade a store${reason}`,
  () => usageRounds(TRACES, KILLS, (engine) => fillEarlier(engine, project)),
)

it(`an upgrade during which ClickHouse is unreachable for ${OUTAGE_SECONDS} s goes on afterwards`, async () => {
  const store = await startProxiedStore()
  try {
    const url = store.newUrl()
    const engine = { ...store.engine, database: new URL(url).pathname.slice(1) }
    await fillEarlier(engine, project)
    const check = (): Promise<void> => expectUpgraded(engine, project)
    console.log(`outage: ${JSON.stringify(await storeOutage(store, OUTAGE_SECONDS, { url, check }))}`)
  } finally {
    await store.close()
  }
})

/** An embedded engine in a process of its own, whose environment is `env`. */
async function startEngine(
  dataDir: string,
  env: Readonly<Record<string, string>>,
): Promise<{ address: EngineAddress & { pid: number }; child: ChildProcess }> {
  const child = spawn(process.execPath, [ENGINE, dataDir], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const [line] = (await once(lines, 'line')) as [string]
  return { address: JSON.parse(line) as EngineAddress & { pid: number }, child }
}

/** Kills a server that upgrades the store under load, and starts one on what the disk has after a loss of power. */
async function losePower(dir: string): Promise<void> {
  const small = earlierProject(CUT_RUNS)
  const [before, after] = [join(dir, 'before'), join(dir, 'after')]
  await mkdir(before)
  const disk = await openForgetfulDisk(before, dir)
  const { address, child } = await startEngine(before, disk.env)
  await fillEarlier(address, small)
  child.kill('SIGKILL')
  process.kill(address.pid, 'SIGKILL')
  const weir = await startWeir(before, { RUN_TRACING: 'off', ...disk.env })
  const load = startLoad({ url: weir.url, session_name: 'power' })
  await load.reached(20)
  await delay(Math.random() * START_SECONDS * 1_000)
  await weir.kill()
  await load.stop()
  await disk.restore(after)
  const next = await startWeir(after, { RUN_TRACING: 'off' })
  try {
    await next.drained()
    expect(await storedFaults(next, 'power', load.traces)).toEqual([])
    await expectUpgraded(next, small)
  } finally {
    await next.kill()
  }
}

const noDisk = noForgetfulDisk()

it.skipIf(noDisk !== undefined)(
  `an upgrade of ${CUT_RUNS} runs that loses power, ${CUTS} times, keeps everything${noDisk === undefined ? '' : ` (${noDisk})`}`,
  async () => {
    for (let cut = 0; cut < CUTS; cut++) {
      const { dir, remove } = await temporaryDir()
      try {
        await losePower(dir)
      } finally {
        await remove()
      }
    }
  },
)
