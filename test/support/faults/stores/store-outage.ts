import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { temporaryDir, until } from '../../stores/clickhouse/embedded-clickhouse.ts'
import { median, startLoad } from '../../servers/load.ts'
import type { ProxiedStore } from './proxied-store.ts'
import { sample, storedFaults, traceFaults } from '../../traces/stored-traces.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../servers/weir-process.ts'

/** Durations that were measured during the outage, in milliseconds. */
export interface OutageReport {
  acknowledged: number
  calls: number
  median_ms: number
  max_ms: number
  drained_ms: number
}

/**
 * Makes the store unavailable for `seconds` under load. Checks that every request is acknowledged, that `/info` and
 * `/ok` respond, that the health report names the problem, and that the store finally has everything once. `earlier` is
 * a database that is not new, and what must be true of it while the server still runs.
 */
export async function storeOutage(
  store: ProxiedStore,
  seconds: number,
  earlier?: { url: string; check: () => Promise<void> },
): Promise<OutageReport> {
  const { dir, remove } = await temporaryDir()
  const weir = await startWeir(dir, { CLICKHOUSE_URL: earlier?.url ?? store.newUrl() })
  const session_name = 'outage'
  try {
    const load = startLoad({ url: weir.url, session_name })
    await load.reached(20)
    await until('the store has rows', async () => (await weir.health()).stored > 0)
    await store.proxy.set({ kind: 'refuse' })
    const before = load.traces.filter((trace) => trace.patched).length
    const [times] = await Promise.all([answerTimes(weir, seconds), saysUnavailable(weir)])
    await load.reached(before + 20)
    await store.proxy.set({ kind: 'pass' })
    await load.stop()
    expect(load.refusals).toEqual([])
    const back = performance.now()
    const { status } = await weir.drained()
    const drained_ms = Math.round(performance.now() - back)
    expect(status).toBe('ok')
    expect(await storedFaults(weir, session_name, load.traces)).toEqual([])
    expect(await traceFaults(weir, sample(load.traces, 20))).toEqual([])
    await earlier?.check()
    expect(await weir.stop()).toBe(0)
    const acknowledged = 3 * load.traces.length
    return {
      acknowledged,
      calls: times.length,
      median_ms: median(times),
      max_ms: Math.max(...times),
      drained_ms,
    }
  } finally {
    await store.proxy.set({ kind: 'pass' })
    if (weir.isAlive()) await weir.kill()
    await remove()
  }
}

/**
 * Sends `count` small TraceRuns in two requests while the store is unavailable, and checks that all of them are counted
 * afterwards.
 */
export async function drainsBacklog(weir: WeirProcess, store: ProxiedStore, count: number): Promise<void> {
  await weir.drained()
  await store.proxy.set({ kind: 'refuse' })
  for (const half of ['first', 'second']) {
    const post = Array.from({ length: count / 2 }, (_, i) => ({
      id: randomUUID(),
      name: `${half} ${i}`,
      session_name: 'small',
    }))
    expect((await weir.fetch('/runs/batch', jsonBody('POST', { post }))).status).toBe(202)
  }
  await store.proxy.set({ kind: 'pass' })
  await weir.drained()
  const [session] = await weir.json<{ run_count: number }[]>('/api/v1/sessions?name=small')
  expect(session?.run_count).toBe(count)
}

/** Calls /info and /ok alternately for `seconds`; returns the durations. */
async function answerTimes(weir: WeirProcess, seconds: number): Promise<number[]> {
  const times: number[] = []
  const end = Date.now() + seconds * 1000
  while (Date.now() < end) {
    const started = performance.now()
    const answer = await weir.fetch(times.length % 2 === 0 ? '/info' : '/ok')
    await answer.arrayBuffer()
    times.push(performance.now() - started)
    expect(answer.status).toBe(200)
    await delay(20)
  }
  return times
}

async function saysUnavailable(weir: WeirProcess): Promise<void> {
  await until(
    'health says store_unavailable',
    async () => (await weir.health()).status === 'store_unavailable',
  )
  const { store, waiting, log } = await weir.health()
  expect(store).toMatchObject({ up: false, last_error: expect.any(String) })
  expect(waiting).toBeGreaterThan(0)
  expect(log.bytes).toBeGreaterThan(0)
}
