import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { temporaryDir, until } from '../../stores/clickhouse/embedded-clickhouse.ts'
import { type Load, patchParts, postParts, type SentTrace, sendParts, startLoad } from '../../servers/load.ts'
import { sample, storedFaults, traceFaults } from '../../traces/stored-traces.ts'
import { startWeir, type WeirProcess } from '../../servers/weir-process.ts'

/** The process that is killed in one round. */
export type Blow = 'server' | 'engine' | 'server while it catches up'

export const BLOWS: readonly Blow[] = ['server', 'engine', 'server while it catches up']
const PROJECT = 'kill'
const LIVE_MS = [150, 1200] as const

/** What the folder has before the first start, and what must be true of it at the end. */
interface Before {
  make(dataDir: string): Promise<void>
  check(weir: WeirProcess): Promise<void>
}

/**
 * Repeats rounds of load, a kill -9 at a random moment, and a restart on the same folder. After each round, the store
 * must hold every TraceRun acknowledged so far, complete and once. Returns the number of acknowledged TraceRuns.
 */
export async function killRounds(blows: readonly Blow[], before?: Before): Promise<number> {
  const { dir, remove } = await temporaryDir()
  const traces: SentTrace[] = []
  await before?.make(dir)
  let weir = await startWeir(dir)
  try {
    for (const [round, blow] of blows.entries()) {
      const load = startLoad({ url: weir.url, session_name: PROJECT, first: traces.length, pauseMs: 40 })
      await load.reached(5)
      await delay(LIVE_MS[0] + Math.random() * (LIVE_MS[1] - LIVE_MS[0]))
      weir = blow === 'engine' ? await killEngine(weir, load) : await killServer(weir, load, blow)
      traces.push(...load.traces)
      await sendAgain(weir, load.traces)
      const said = `round ${round}, ${blow}, ${load.traces.length} traces`
      await weir.drained()
      expect(await storedFaults(weir, PROJECT, traces), said).toEqual([])
      expect(await traceFaults(weir, sample(load.traces, 5)), said).toEqual([])
    }
    expect(await traceFaults(weir, sample(traces, Math.min(30, 10 * blows.length)))).toEqual([])
    await before?.check(weir)
    expect(await weir.stop()).toBe(0)
    return 3 * traces.filter((trace) => trace.patched).length
  } finally {
    if (weir.isAlive()) await weir.kill()
    await remove()
  }
}

async function killServer(weir: WeirProcess, load: Load, blow: Blow): Promise<WeirProcess> {
  await weir.kill()
  await load.stop()
  const next = await startWeir(weir.dataDir)
  if (blow === 'server') return next
  // The restarted server is killed while it stores the records that were left in its log.
  await delay(Math.random() * 200)
  await next.kill()
  return await startWeir(weir.dataDir)
}

/**
 * Kills the engine. Checks that the server continues, that its log accepts data, and that the server restarts the
 * engine.
 */
async function killEngine(weir: WeirProcess, load: Load): Promise<WeirProcess> {
  const pid = await weir.enginePid()
  const before = load.traces.length
  process.kill(pid, 'SIGKILL')
  await until('the load goes on', () => load.traces.length > before + 50)
  await load.stop()
  expect(load.refusals).toEqual([])
  await weir.drained()
  expect(await weir.enginePid()).not.toBe(pid)
  return weir
}

/** Repeats requests that had no response, as clients do, and some that had one, with other parts in each request. */
async function sendAgain(weir: WeirProcess, traces: readonly SentTrace[]): Promise<void> {
  const open = traces.filter((trace) => !trace.patched).slice(0, 20)
  for (const trace of [...open, ...sample(traces, 5)]) {
    const { status } = await sendParts(weir.url, [...patchParts(trace), ...postParts(trace, PROJECT)])
    expect(status).toBe(202)
    Object.assign(trace, { posted: true, patched: true })
  }
}
