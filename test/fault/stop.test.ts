import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { temporaryDir } from '../support/stores/clickhouse/embedded-clickhouse.ts'
import { multipartType } from '../support/faults/hostile-server.ts'
import { eventually } from '../support/eventually.ts'
import { newTrace, postParts, type SentTrace, startLoad } from '../support/servers/load.ts'
import { sample, storedFaults, traceFaults } from '../support/traces/stored-traces.ts'
import { KEY, startWeir, type WeirProcess } from '../support/servers/weir-process.ts'
import { multipartBody } from '../support/traces/wire-body.ts'
import { inLong } from '../support/length.ts'

// Servers start and end, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

/** True when a server accepts connections there. */
function takesConnections(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

async function withFolder(use: (dir: string) => Promise<void>): Promise<void> {
  const { dir, remove } = await temporaryDir()
  try {
    await use(dir)
  } finally {
    await remove()
  }
}

/** Begins to send a trace; resolves when the server has received the head of the request. The result sends the body. */
async function beginToSend(weir: WeirProcess, trace: SentTrace, session_name: string) {
  const body = multipartBody(postParts(trace, session_name))
  const headers = {
    ...multipartType(),
    'x-api-key': KEY,
    'content-length': body.length,
    expect: '100-continue',
  }
  const sending = request(`${weir.url}/runs/multipart`, { method: 'POST', headers, agent: false })
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>
  // If the connection breaks earlier, the next line throws.
  answered.catch(() => undefined)
  await once(sending, 'continue')
  return async (): Promise<number | undefined> => {
    sending.end(body)
    const [answer] = await answered
    answer.resume()
    return answer.statusCode
  }
}

/**
 * Loads, from large to small. The next one is tried if the machine is too slow to store the waiting data within the
 * time limit of a stop.
 */
const LOADS = [
  { concurrency: 8, traces: 100 },
  { concurrency: 2, traces: 20 },
  { concurrency: 1, traces: 5 },
]
/** Time limit of a stop: after it the server exits, and its next start stores the data that still waits. */
const DRAIN_MS = 10_000

/** False when the machine was too slow for a result. */
async function stopsUnder({ concurrency, traces }: (typeof LOADS)[number], dir: string): Promise<boolean> {
  const weir = await startWeir(dir)
  const load = startLoad({ url: weir.url, session_name: 'stop', concurrency })
  await load.reached(traces)
  // The server does not exit while this request is running.
  const last = { ...newTrace(0), posted: true }
  const sendTheRest = await beginToSend(weir, last, 'stop')
  const signalled = performance.now()
  const stopping = weir.stop()
  while (await takesConnections(weir.url)) {
    // The signal has not been handled yet.
  }
  expect(weir.isAlive()).toBe(true)
  expect(await sendTheRest()).toBe(202)
  expect(await stopping).toBe(0)
  const isLate = performance.now() - signalled > DRAIN_MS
  const said = weir.log.map(({ msg }) => msg).filter((msg) => msg === 'stopping' || msg === 'stopped')
  expect(said).toEqual(['stopping', 'stopped'])
  await load.stop()
  expect(load.refusals.every(({ status }) => status === 0 || status === 503)).toBe(true)
  const next = await startWeir(dir)
  try {
    const { waiting, log } = await next.health()
    if (isLate && waiting > 0) return false
    // Acknowledged data was stored before the exit, and not by the next start.
    expect({ waiting, last_recovery: log.last_recovery }).toEqual({ waiting: 0, last_recovery: null })
    expect(await storedFaults(next, 'stop', [...load.traces, last])).toEqual([])
    expect(await traceFaults(next, sample(load.traces, Math.min(10, traces)))).toEqual([])
    return true
  } finally {
    await next.kill()
  }
}

it('SIGTERM under load: exit code 0, no new connection, all acknowledged data is stored', () =>
  withFolder(async (dir) => {
    let stored = false
    for (const load of LOADS) stored ||= await stopsUnder(load, join(dir, String(load.concurrency)))
    expect(stored).toBe(true)
  }))

/** Delays in seconds. The next one is tried if the machine is too slow for the one before. */
const DRAIN_DELAYS = [5, 20, 60]

/** False when the machine was too slow to send a request within the delay. */
async function goesOn(dir: string, seconds: number): Promise<boolean> {
  const weir = await startWeir(dir, { DRAIN_DELAY_SECONDS: String(seconds) })
  const readiness = async () => {
    const response = await weir.fetch('/ready')
    return [response.status, await response.json()] as const
  }
  const parts = { ingest: 'up', reads: 'up', runs: 'up' }
  await eventually(async () =>
    expect(await readiness()).toEqual([200, { ready: true, draining: false, parts }]),
  )
  const signalled = performance.now()
  const isOver = (): boolean => performance.now() - signalled > seconds * 1000
  const stopping = weir.stop()
  try {
    await eventually(async () => {
      if (!isOver()) expect(await readiness()).toEqual([503, { ready: false, draining: true, parts }])
    })
    const sendTheRest = await beginToSend(weir, { ...newTrace(0), posted: true }, 'drain')
    expect(await sendTheRest()).toBe(202)
    expect(await (await weir.fetch('/metrics')).text()).toContain('weir_draining 1')
  } catch (error) {
    if (!isOver()) throw error
    await stopping
    return false
  }
  expect(await stopping).toBe(0)
  expect(isOver()).toBe(true)
  return true
}

inLong(() => {
  it('DRAIN_DELAY_SECONDS: after SIGTERM it is not ready, and goes on until balancers have noticed', () =>
    withFolder(async (dir) => {
      let wentOn = false
      for (const seconds of DRAIN_DELAYS) wentOn ||= await goesOn(join(dir, String(seconds)), seconds)
      expect(wentOn).toBe(true)
    }))
})
