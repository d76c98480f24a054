import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { temporaryDir, until } from '../support/embedded-clickhouse.ts'
import { multipartType } from '../support/hostile-server.ts'
import {
  median,
  newTrace,
  patchParts,
  postParts,
  type SentTrace,
  sendParts,
  startLoad,
} from '../support/load.ts'
import { sample, storedFaults, traceFaults } from '../support/stored-traces.ts'
import { KEY, startWeir, type WeirProcess } from '../support/weir-process.ts'
import { multipartBody } from '../support/wire-body.ts'

/** True when somebody listens there. */
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

/** Begins to send a trace; resolves when the server has begun to take it. */
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
  await once(sending, 'continue')
  return async (): Promise<number | undefined> => {
    sending.end(body)
    const [answer] = await answered
    answer.resume()
    return answer.statusCode
  }
}

it('SIGTERM under load: exit code 0, no new connection, everything acknowledged is stored', () =>
  withFolder(async (dir) => {
    const weir = await startWeir(dir)
    const load = startLoad({ url: weir.url, session_name: 'stop' })
    await load.reached(100)
    // As long as this request is under way the server does not end.
    const last = { ...newTrace(0), posted: true }
    const sendTheRest = await beginToSend(weir, last, 'stop')
    const stopping = weir.stop()
    while (await takesConnections(weir.url)) {
      // The signal has not been handled yet.
    }
    expect(weir.isAlive()).toBe(true)
    expect(await sendTheRest()).toBe(202)
    expect(await stopping).toBe(0)
    const said = weir.log.map(({ msg }) => msg).filter((msg) => msg === 'stopping' || msg === 'stopped')
    expect(said).toEqual(['stopping', 'stopped'])
    await load.stop()
    expect(load.refusals.every(({ status }) => status === 0 || status === 503)).toBe(true)
    const next = await startWeir(dir)
    try {
      // What was acknowledged was stored before the end, not left to the next start.
      const { waiting, log } = await next.health()
      expect({ waiting, last_recovery: log.last_recovery }).toEqual({ waiting: 0, last_recovery: null })
      expect(await storedFaults(next, 'stop', [...load.traces, last])).toEqual([])
      expect(await traceFaults(next, sample(load.traces, 10))).toEqual([])
    } finally {
      await next.kill()
    }
  }))

/** Milliseconds from an acknowledgement until `isThere`. */
async function timeUntil(isThere: () => Promise<boolean>): Promise<number> {
  const started = performance.now()
  await until('what was acknowledged is readable', isThere)
  return performance.now() - started
}

async function isComplete(weir: WeirProcess, id: string): Promise<boolean> {
  const answer = await weir.fetch(`/api/v1/runs/${id}`)
  if (answer.status !== 200) return false
  const { status, inputs, outputs, total_tokens } = (await answer.json()) as Record<string, unknown>
  return status === 'success' && inputs !== null && outputs !== null && total_tokens !== null
}

async function isListed(weir: WeirProcess, id: string): Promise<boolean> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const body = JSON.stringify({ id: [id] })
  const { runs } = await weir.json<{ runs: { status: string; total_tokens: number | null }[] }>(
    '/api/v1/runs/query',
    { ...init, body },
  )
  return runs[0]?.status === 'success' && runs[0].total_tokens !== null
}

it('what is acknowledged is readable and listed soon after', () =>
  withFolder(async (dir) => {
    const weir = await startWeir(dir)
    try {
      const times: Record<'read' | 'listed', number[]> = { read: [], listed: [] }
      for (let i = 0; i < 10; i++) {
        const trace = newTrace(i)
        const parts = [...postParts(trace, 'soon'), ...patchParts(trace)]
        expect((await sendParts(weir.url, parts)).status).toBe(202)
        const [read, listed] = await Promise.all([
          timeUntil(() => isComplete(weir, trace.llm)),
          timeUntil(() => isListed(weir, trace.llm)),
        ])
        times.read.push(read)
        times.listed.push(listed)
      }
      for (const [what, values] of Object.entries(times)) {
        console.log(
          `${what} after acknowledgement: median ${median(values).toFixed(0)} ms, max ${Math.max(...values).toFixed(0)} ms`,
        )
      }
    } finally {
      await weir.kill()
    }
  }))
