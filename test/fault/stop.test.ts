import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { temporaryDir } from '../support/stores/embedded-clickhouse.ts'
import { multipartType } from '../support/faults/hostile-server.ts'
import { newTrace, postParts, type SentTrace, startLoad } from '../support/servers/load.ts'
import { sample, storedFaults, traceFaults } from '../support/traces/stored-traces.ts'
import { KEY, startWeir, type WeirProcess } from '../support/servers/weir-process.ts'
import { multipartBody } from '../support/traces/wire-body.ts'

/** True when a server listens there. */
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

/** Begins to send a trace; resolves when the server has begun to read it. */
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

it('SIGTERM under load: exit code 0, no new connection, all acknowledged data is stored', () =>
  withFolder(async (dir) => {
    const weir = await startWeir(dir)
    const load = startLoad({ url: weir.url, session_name: 'stop' })
    await load.reached(100)
    // The server does not exit while this request is running.
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
      // Acknowledged data was stored before the exit, not left to the next start.
      const { waiting, log } = await next.health()
      expect({ waiting, last_recovery: log.last_recovery }).toEqual({ waiting: 0, last_recovery: null })
      expect(await storedFaults(next, 'stop', [...load.traces, last])).toEqual([])
      expect(await traceFaults(next, sample(load.traces, 10))).toEqual([])
    } finally {
      await next.kill()
    }
  }))
