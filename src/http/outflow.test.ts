import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { createOutflow, type OutflowLimits } from './outflow.ts'

const MB = 1 << 20
/** More than the system takes from a writer whose reader does not read. */
const LARGE = new Uint8Array(48 * MB).fill(120)

/** A server that writes `bytes` to everyone; the path says for whom. Clients read when they are told to. */
async function startOutflow(limits: OutflowLimits, bytesFor: (holder: string) => Uint8Array = () => LARGE) {
  const outflow = createOutflow(limits)
  const taken: [holder: string, taken: boolean][] = []
  const answer = async (holder: string, res: ServerResponse): Promise<void> => {
    const isTaken = await outflow.write(holder, res, bytesFor(holder))
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
  return { outflow, taken, ask }
}

describe('an outflow', () => {
  it('brings large answers whole to who reads them, and then holds nothing', async () => {
    const { outflow, ask } = await startOutflow({})
    const bodies = await Promise.all(['a', 'b'].map(async (name) => buffer(await ask(name))))
    expect(bodies.map(({ length }) => length)).toEqual([LARGE.length, LARGE.length])
    await eventually(async () => expect(outflow.unsentBytes()).toBe(0))
  })

  it('cuts who takes nothing', async () => {
    const { outflow, taken, ask } = await startOutflow({ idle_ms: 50 })
    await ask('a')
    await eventually(async () => expect(taken).toEqual([['a', false]]))
    expect(outflow.unsentBytes()).toBe(0)
  })

  it('counts once what many take together', async () => {
    const { outflow, ask } = await startOutflow({ max_bytes: LARGE.length })
    await Promise.all(['a', 'b', 'c'].map(ask))
    await eventually(async () => expect(outflow.unsentBytes()).toBe(LARGE.length))
  })

  it('beyond its bound cuts what waits longest of who has the most', async () => {
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
