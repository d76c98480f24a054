import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { createOutflow, type OutflowLimits } from './outflow.ts'
import { inLong } from '../../../test/support/length.ts'

const MB = 1 << 20
/** More bytes than the socket buffers have room for while the client does not read. */
const LARGE = new Uint8Array(48 * MB).fill(120)

/** A server that writes `bytes` to every request; the path is the holder. Clients read on demand. */
async function startOutflow(
  limits: OutflowLimits,
  bytesFor: (holder: string) => Uint8Array | Promise<Uint8Array> = () => LARGE,
) {
  const outflow = createOutflow(limits)
  const taken: [holder: string, taken: boolean][] = []
  const answer = async (holder: string, res: ServerResponse): Promise<void> => {
    const isTaken = await outflow.write(holder, res, await bytesFor(holder))
    taken.push([holder, isTaken])
    if (isTaken) res.end()
  }
  const server = createServer((req, res) => void answer(String(req.url).slice(1), res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  const { port } = server.address() as AddressInfo
  const ask = async (holder: string) => {
    const asked = request({ port, host: '127.0.0.1', path: `/${holder}`, agent: false })
    asked.on('error', () => undefined)
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.on('error', () => undefined)
    return response
  }
  return { outflow, taken, ask, port }
}

describe('an outflow', () => {
  it('sends large responses completely to clients that read them, and then holds no bytes', async () => {
    const { outflow, ask } = await startOutflow({})
    const bodies = await Promise.all(['a', 'b'].map(async (name) => buffer(await ask(name))))
    expect(bodies.map(({ length }) => length)).toEqual([LARGE.length, LARGE.length])
    await eventually(async () => expect(outflow.unsentBytes()).toBe(0))
  })

  it('disconnects a client that reads nothing', async () => {
    const { outflow, taken, ask } = await startOutflow({ idle_ms: 50 })
    await ask('a')
    await eventually(async () => expect(taken).toEqual([['a', false]]))
    expect(outflow.unsentBytes()).toBe(0)
  })

  it('does not cut an answer that waits behind another in its connection', async () => {
    // Only the test advances the time; otherwise the clients would be too late on a busy machine.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const held = Promise.withResolvers<Uint8Array>()
    const small = LARGE.subarray(0, MB)
    const { outflow, taken, ask, port } = await startOutflow({ idle_ms: 50 }, (holder) =>
      holder === 'first' ? held.promise : holder === 'second' ? small : LARGE,
    )
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const asks = ['first', 'second'].map((path) => `GET /${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    socket.resume().write(asks.join(''))
    await eventually(async () => expect(outflow.unsentBytes()).toBe(MB))
    // A client that starts later and reads nothing is disconnected.
    await ask('idle')
    await eventually(async () => expect(outflow.unsentBytes()).toBe(MB + LARGE.length))
    vi.advanceTimersByTime(50)
    await eventually(async () => expect(taken).toEqual([['idle', false]]))
    held.resolve(small)
    await eventually(async () =>
      expect(taken.toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
        ['first', true],
        ['idle', false],
        ['second', true],
      ]),
    )
  })

  inLong(() => {
    it('counts bytes that many clients receive once', async () => {
      const { outflow, ask } = await startOutflow({ max_bytes: LARGE.length })
      await Promise.all(['a', 'b', 'c'].map(ask))
      await eventually(async () => expect(outflow.unsentBytes()).toBe(LARGE.length))
    })
  })

  it('beyond its limit drops the oldest response of the holder with the most unsent bytes', async () => {
    const own = (): Uint8Array => LARGE.slice()
    const { outflow, taken, ask } = await startOutflow({ max_bytes: 3 * LARGE.length }, own)
    for (const [index, holder] of ['small', 'large', 'large'].entries()) {
      await ask(holder)
      await eventually(async () => expect(outflow.unsentBytes()).toBe((index + 1) * LARGE.length))
    }
    await ask('other')
    await eventually(async () => expect(taken).toEqual([['large', false]]))
    expect(outflow.unsentBytes()).toBe(3 * LARGE.length)
  })
})
