import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { campaignSample, LONG_MS } from '../../support/campaign.ts'
import { CLOCK_LIBRARY, makeFakeClock } from '../../support/faults/fake-clock.ts'
import { eventually } from '../../support/eventually.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'

// Several servers start, each with a changed clock.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPH = fileURLToPath(new URL('../../fixtures/run-graphs/beats.mjs:graph', import.meta.url))
const REASON = withoutPostgres() + (CLOCK_LIBRARY === undefined ? ' (no libfaketime)' : '')
const THREADS = '/deployments/d/threads'
const RUNS = 6
/** Offsets of wrong clocks in seconds. */
const OFFSETS = campaignSample(['+60', '-60'])
/** Longer than a lease. */
const OVER_MS = 15_000

interface Run {
  run_id: string
  thread_id: string
  status: string
  created_at: string
}

describe.skipIf(REASON !== '')(`servers on one Postgres whose clocks differ${REASON}`, () => {
  let dir: Awaited<ReturnType<typeof temporaryDir>>
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let env: Record<string, string>
  const servers: WeirProcess[] = []
  /** The server whose clock is right. The other servers must not take over the runs that it executes. */
  let right: WeirProcess
  let still: WeirProcess
  const wrong = new Map<string, WeirProcess>()
  /** Runs that `right` executes, by the name of their gate. */
  const live = new Map<string, Run[]>()
  beforeAll(async () => {
    dir = await temporaryDir()
    postgres = await startPostgres({ max_connections: '200' })
    const graphs = join(dir.dir, 'langgraph.json')
    await writeFile(graphs, JSON.stringify({ graphs: { beats: GRAPH } }))
    env = {
      DATABASE_URL: await postgres.createDatabase(),
      BLOB_URL: pathToFileURL(join(dir.dir, 'blobs')).href,
      GRAPHS: graphs,
      DEPLOYMENT_NAME: 'd',
      RUN_TRACING: 'off',
    }
    right = await start('right')
    // One server after the other: starts of several at the same time could keep `right` from renewing its leases.
    for (const offset of OFFSETS) {
      live.set(offset, await startRuns(right, offset))
      wrong.set(offset, await start(`wrong${offset}`, await fakeClock(offset)))
    }
    live.set('copy', await startRuns(right, 'copy'))
    await mkdir(join(dir.dir, 'copy'))
    await cp(join(dir.dir, 'right', 'instance-id'), join(dir.dir, 'copy', 'instance-id'))
    // The data of its embedded ClickHouse is not copied.
    await start('copy', {}, ['--accept-empty-store'])
    still = await start('still')
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await postgres?.stop()
    await dir?.remove()
  })

  async function start(
    name: string,
    more: Record<string, string> = {},
    args: readonly string[] = [],
  ): Promise<WeirProcess> {
    await mkdir(join(dir.dir, name), { recursive: true })
    const server = await startWeir(join(dir.dir, name), { ...env, ...more }, args)
    servers.push(server)
    return server
  }

  async function fakeClock(offset: string): Promise<Record<string, string>> {
    const clock = await makeFakeClock(join(dir.dir, `clock${offset}`))
    await clock.set(offset)
    return clock.env
  }

  const gate = (name: string): string => join(dir.dir, `gate-${name}`)

  /** Starts runs that do not end before their gate file exists. */
  async function startRuns(server: WeirProcess, name: string): Promise<Run[]> {
    const runs: Run[] = []
    for (let n = 0; n < RUNS; n++) {
      const { thread_id } = await server.json<Run>(THREADS, jsonBody('POST', {}))
      const input = { file: join(dir.dir, thread_id), beats: 3, gate: gate(name) }
      const request = jsonBody('POST', { assistant_id: 'beats', input })
      runs.push(await server.json(`${THREADS}/${thread_id}/runs`, request))
    }
    await eventually(async () => expect(await workers(runs)).toEqual(runs.map(() => 1)))
    return runs
  }

  /** For each run, the number of processes that have executed it. */
  async function workers(runs: readonly Run[]): Promise<number[]> {
    const counts: number[] = []
    for (const { thread_id } of runs) {
      const text = await readFile(join(dir.dir, thread_id), 'utf8').catch(() => '')
      counts.push(new Set(Array.from(text.matchAll(/"pid":(\d+)/g), ([, pid]) => pid)).size)
    }
    return counts
  }

  /**
   * Keeps the runs going for longer than a lease, then lets them end. Checks that only one process has executed each
   * run.
   */
  async function expectOnce(server: WeirProcess, name: string, runs: readonly Run[]): Promise<void> {
    const since = performance.now()
    await eventually(async () => expect(performance.now() - since).toBeGreaterThan(OVER_MS))
    await writeFile(gate(name), '')
    await eventually(async () => {
      for (const { thread_id, run_id } of runs) {
        const { status } = await server.json<Run>(`${THREADS}/${thread_id}/runs/${run_id}`)
        expect(status).toBe('success')
      }
    })
    expect(await workers(runs)).toEqual(runs.map(() => 1))
  }

  // The tests wait at the same time. The servers of all of them run to the end, since they may execute the runs of the
  // one that stands still.
  it.concurrent.each(OFFSETS)('RUN-14: one that is %s s off takes no live run of another', async (offset) => {
    await expectOnce(right, offset, live.get(offset)!)
    const made = await wrong.get(offset)!.json<Run>(THREADS, jsonBody('POST', {}))
    expect(Math.abs(Date.parse(made.created_at) - Date.now())).toBeLessThan(20_000)
  })

  it.concurrent('RUN-14: one that starts on a copy of the folder of a live one takes none of its runs', async () => {
    await expectOnce(right, 'copy', live.get('copy')!)
  })

  /** Sends the signal to a server and all of its children. SIGSTOP has the effect of a machine that stands still. */
  async function signalAll(server: WeirProcess, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const names = await readdir(join(server.dataDir, 'processes'))
    const children = names.flatMap((name) => /-(\d+)\.json$/.exec(name)?.[1] ?? [])
    for (const pid of [server.pid, ...children.map(Number)]) process.kill(pid, signal)
  }

  it.concurrent('RUN-14: a server that is paused for longer than its lease loses its own runs and no others, and its late writes change nothing', async () => {
    // Each server executes the runs that it creates.
    const [stopped, kept] = [await startRuns(still, 'still'), await startRuns(right, 'still')]
    await signalAll(still, 'SIGSTOP')
    try {
      await eventually(async () => expect(await workers(stopped)).toEqual(stopped.map(() => 2)))
    } finally {
      await signalAll(still, 'SIGCONT')
    }
    await expectOnce(right, 'still', kept)
    await eventually(async () => {
      for (const { thread_id, run_id } of stopped) {
        const { status } = await still.json<Run>(`${THREADS}/${thread_id}/runs/${run_id}`)
        expect(status).toBe('success')
      }
    })
    expect(await workers(stopped)).toEqual(stopped.map(() => 2))
    for (const { thread_id } of [...stopped, ...kept]) {
      const { values } = await right.json<{ values: { steps: string[] } }>(`${THREADS}/${thread_id}/state`)
      expect(values.steps).toEqual(['one', 'two', 'three'])
    }
  })
})
