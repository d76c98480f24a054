import { cp, readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import {
  patchParts,
  postParts,
  type SentTrace,
  sendParts,
  startLoad,
} from '../../test/support/servers/load.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../test/support/servers/weir-process.ts'
import { sample, storedFaults, traceFaults } from '../../test/support/traces/stored-traces.ts'
import { clickHouseDisk } from '../load/disk.ts'
import { earlierStore, type EarlierStore, isUpgraded, withEngine } from '../load/earlier-store.ts'
import { processSeconds } from '../load/thread-times.ts'

// The upgrade of a store that an earlier checkout made (the folder keeps it for further passes): time until the server
// answers and until all work in the background is done, CPU of the engine, disk, and reads that must not change. With
// kills, traces are sent meanwhile, and the server and its engine are killed in turn, at random moments:
//   node scripts/launch.mjs bench/store/upgrade.bench.ts <earlier checkout> <folder> [runs] [kills] [seconds between kills]
const [checkout = '', folder = '', runs = '5000000', kills = '0', between = '20'] = process.argv.slice(2)
const KILLS = Number(kills)
const MAX_PAUSE_MS = 2_000 * Number(between)
const LOOK_MS = 1_000
const MEANWHILE = 'sent meanwhile'

type Json = Record<string, unknown>

/** What must be the same before, during and after the upgrade; figures are those that both releases have. */
async function reads(weir: WeirProcess, facts: EarlierStore): Promise<Record<string, unknown>> {
  const { filled_id, from, to } = facts
  const window = { start_time: new Date(from).toISOString(), end_time: new Date(to + 60_000).toISOString() }
  const usage = async (group_by: string): Promise<unknown> => {
    const query = new URLSearchParams({ ...window, group_by, workspace_ids: facts.workspace_id })
    const answer = await weir.json<{ usage: unknown[] }>(
      `/api/v1/orgs/current/billing/granular-usage?${query.toString()}`,
    )
    return answer.usage
  }
  const post = <T = Json>(path: string, body: object): Promise<T> =>
    weir.json<T>(path, jsonBody('POST', body))
  const stats = await post('/runs/stats', { session: [filled_id], ...window })
  const roots = await post('/runs/stats', { session: [filled_id], ...window, is_root: true })
  const threads = await post<{ items: Json[] }>('/v2/threads/query', {
    project_id: filled_id,
    min_start_time: window.start_time,
    max_start_time: window.end_time,
    page_size: 20,
  })
  const page = await post<{ runs: Json[] }>('/api/v1/runs/query', {
    session: [filled_id],
    end_time: new Date((from + to) / 2).toISOString(),
    limit: 20,
  })
  const trace = await weir.json<{ runs: Json[] }>(`/api/v1/traces/${String(page.runs[0]!['trace_id'])}`)
  const figures = [
    'run_count',
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'total_cost',
    'error_rate',
  ]
  return {
    usage: await usage('project'),
    keys: await usage('api_key'),
    stats: picked(stats, figures),
    roots: picked(roots, figures),
    threads: threads.items.map((item) =>
      picked(item, [
        'thread_id',
        'count',
        'total_tokens',
        'total_cost',
        'num_errored_turns',
        'first_trace_id',
      ]),
    ),
    page: page.runs.map((one) =>
      picked(one, ['id', 'trace_id', 'name', 'status', 'start_time', 'total_tokens']),
    ),
    trace: trace.runs.map((one) => picked(one, ['id', 'name', 'inputs', 'outputs', 'total_tokens'])),
    sent: await storedFaults(weir, facts.sent, facts.traces),
    payloads: await traceFaults(weir, sample(facts.traces, 10)),
  }
}

function picked(from: Json, fields: readonly string[]): Json {
  return Object.fromEntries(fields.map((field) => [field, from[field]]))
}

function changed(before: Record<string, unknown>, now: Record<string, unknown>): string[] {
  return Object.keys(before).filter((what) => !isDeepStrictEqual(before[what], now[what]))
}

/** CPU seconds of the engines of a folder, also of those that were killed. */
function engineCpu(dataDir: string) {
  const seconds = new Map<number, number>()
  return {
    async look(): Promise<number | undefined> {
      const names = await readdir(join(dataDir, 'processes')).catch(() => [])
      const pid = Number(names.flatMap((name) => /^clickhouse-(\d+)\.json$/.exec(name)?.[1] ?? [])[0])
      try {
        seconds.set(pid, processSeconds(pid))
        return pid
      } catch {
        return undefined
      }
    },
    total: () => [...seconds.values()].reduce((sum, one) => sum + one, 0),
  }
}

const elapsed = (since: number): string => `${((performance.now() - since) / 1000).toFixed(0)} s`

async function start(dataDir: string): Promise<WeirProcess> {
  const began = performance.now()
  const weir = await startWeir(dataDir)
  await weir.json('/api/v1/workspaces')
  console.log(`answers after ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return weir
}

/** Sends what had no answer once more, as SDKs do. */
async function sendRest(weir: WeirProcess, traces: readonly SentTrace[]): Promise<void> {
  for (const trace of traces.filter(({ patched }) => !patched)) {
    await sendParts(weir.url, [...postParts(trace, MEANWHILE), ...patchParts(trace)])
    Object.assign(trace, { posted: true, patched: true })
  }
}

async function usageOfMeanwhile(weir: WeirProcess): Promise<number> {
  const query = new URLSearchParams({
    start_time: new Date(Date.now() - 86_400_000).toISOString(),
    end_time: new Date(Date.now() + 3_600_000).toISOString(),
    group_by: 'project',
    workspace_ids: facts.workspace_id,
  })
  const { usage } = await weir.json<{ usage: { dimensions: Json; traces: number }[] }>(
    `/api/v1/orgs/current/billing/granular-usage?${query.toString()}`,
  )
  const own = usage.filter(({ dimensions }) => dimensions['project_name'] === MEANWHILE)
  return own.reduce((sum, { traces }) => sum + traces, 0)
}

/** What the release that made the store answers. */
async function readsBefore(made: string, facts: EarlierStore): Promise<Record<string, unknown>> {
  const weir = await startWeir(made, {}, [], resolve(checkout, 'src/main.ts'))
  try {
    return await reads(weir, facts)
  } finally {
    await weir.stop()
  }
}

/** Looks at CPU and disk, and compares reads, until `isDone`. Reads that a kill interrupts do not count. */
function observe(dataDir: string, weirNow: () => WeirProcess, facts: EarlierStore, before: Json) {
  const cpu = engineCpu(dataDir)
  const seen = { most: 0, compared: 0, slowest: 0, isDone: false }
  const began = performance.now()
  const looks = async (): Promise<void> => {
    for (; !seen.isDone; await delay(LOOK_MS)) {
      await cpu.look()
      seen.most = Math.max(seen.most, await clickHouseDisk(dataDir))
    }
  }
  const comparing = async (): Promise<void> => {
    for (; !seen.isDone; await delay(2 * LOOK_MS)) {
      const [asked, since] = [weirNow(), performance.now()]
      const now = await reads(asked, facts).catch((error: unknown) => {
        if (asked.isAlive()) console.log(`reads failed after ${elapsed(began)}: ${String(error)}`)
      })
      if (now === undefined) continue
      seen.compared++
      seen.slowest = Math.max(seen.slowest, performance.now() - since)
      for (const what of changed(before, now))
        console.log(`CHANGED after ${elapsed(began)}: ${what}`, JSON.stringify(now[what]).slice(0, 400))
    }
  }
  const ended = Promise.all([looks(), comparing()])
  const end = async (): Promise<void> => {
    seen.isDone = true
    await ended
  }
  return { cpu, seen, end }
}

const made = resolve(folder, 'earlier')
const facts = await earlierStore(made, checkout, Number(runs))
const before = await readsBefore(made, facts)
const dataDir = resolve(folder, `upgraded-${process.pid}`)
await cp(made, dataDir, { recursive: true, verbatimSymlinks: true })
const disk = await clickHouseDisk(dataDir)
const began = performance.now()
let weir = await start(dataDir)
try {
  const { cpu, seen, end } = observe(dataDir, () => weir, facts, before)
  const sent: SentTrace[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const load = startLoad({
      url: weir.url,
      session_name: MEANWHILE,
      first: sent.length,
      concurrency: 4,
      pauseMs: 100,
    })
    await delay(Math.random() * MAX_PAUSE_MS)
    const pid = await cpu.look()
    await weir.kill()
    // Every second kill leaves the engine behind, which the next server ends.
    if (kill % 2 === 0 && pid !== undefined) process.kill(pid, 'SIGKILL')
    await load.stop()
    console.log(`killed after ${elapsed(began)}`)
    weir = await start(dataDir)
    sent.push(...load.traces)
    await sendRest(weir, load.traces)
  }
  while (!(await withEngine(dataDir, isUpgraded))) await delay(LOOK_MS)
  console.log(`done after ${elapsed(began)}; engine ${cpu.total().toFixed(0)} s of CPU`)
  await end()
  await weir.drained()
  const wrong = changed(before, await reads(weir, facts))
  const [most, after] = [Math.max(disk, seen.most), await clickHouseDisk(dataDir)]
  console.log(
    `${runs} runs: disk ${disk} MB, at most ${most} (${(most / disk).toFixed(2)}), after it ${after}; all reads compared ${seen.compared} times, the slowest in ${(seen.slowest / 1000).toFixed(1)} s; after it ${wrong.join(', ') || 'the same'}`,
  )
  if (KILLS > 0) {
    const faults = await storedFaults(weir, MEANWHILE, sent)
    const counted = await usageOfMeanwhile(weir)
    console.log(`${sent.length} traces sent, usage counts ${counted}; faults: ${faults.join('; ') || 'none'}`)
  }
} finally {
  if (weir.isAlive()) await weir.stop()
  await rm(dataDir, { recursive: true, force: true })
}
