import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fixedPort } from '../../fixed-port.ts'

/**
 * The state of the connection between a server and one of its stores.
 * - `pass`: nothing is changed.
 * - `late`: each piece of data takes `ms` longer in each direction. With `every`, only every n-th piece does, like
 *   a packet that was lost and is sent again.
 * - `swallow`: no bytes arrive, and neither side is notified. With `only: 'answers'`, only bytes of the store are dropped.
 * - `refuse`: connections are cut, and new ones are refused.
 */
export type Line =
  | { readonly kind: 'pass' | 'refuse' }
  | { readonly kind: 'late'; readonly ms: number; readonly every?: number }
  | { readonly kind: 'swallow'; readonly only?: 'answers' }

/** A proxy in front of a store, for any protocol. */
export interface TcpProxy {
  readonly port: number
  /**
   * Sets the state for all later bytes, also on open connections. Bytes that `swallow` dropped are not sent later:
   * their connections are cut when another state is set.
   */
  set(line: Line): Promise<void>
  /** Sets the target of later connections; open connections are cut. */
  lead(port: number): void
  close(): Promise<void>
}

/** Listens on a port of `host` and forwards to port `target` of 127.0.0.1. */
export async function startTcpProxy(target: number, host = '127.0.0.1'): Promise<TcpProxy> {
  let line: Line = { kind: 'pass' }
  let to = target
  const pairs = new Set<{ sockets: Socket[]; lost: boolean }>()
  const server = createServer((client) => {
    const store = connect(to, '127.0.0.1')
    const pair = { sockets: [client, store], lost: false }
    pairs.add(pair)
    const cut = (): void => {
      pairs.delete(pair)
      for (const socket of pair.sockets) socket.destroy()
    }
    for (const socket of pair.sockets) socket.setNoDelay().on('error', cut).on('close', cut)
    pass(client, store, false)
    pass(store, client, true)
    function pass(from: Socket, into: Socket, isAnswer: boolean): void {
      // The pieces are written one after the other to keep their order.
      let last: Promise<unknown> = Promise.resolve()
      let pieces = 0
      from.on('data', (bytes) => {
        if (line.kind === 'swallow' && (line.only === undefined || isAnswer)) return void (pair.lost = true)
        const waits = line.kind === 'late' && pieces++ % (line.every ?? 1) === 0 ? delay(line.ms) : undefined
        last = Promise.all([last, waits]).then(() => into.writable && into.write(bytes))
      })
    }
  })
  const port = await fixedPort()
  const listen = async (): Promise<void> => {
    server.listen(port, host)
    await once(server, 'listening')
  }
  const cutWhere = (isMeant: (pair: { lost: boolean }) => boolean): void => {
    for (const pair of pairs) if (isMeant(pair)) for (const socket of pair.sockets) socket.resetAndDestroy()
  }
  const refuse = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    cutWhere(() => true)
    await closed
  }
  await listen()
  return {
    port,
    async set(next) {
      line = next
      if (next.kind === 'refuse') return refuse()
      if (!server.listening) await listen()
      if (next.kind !== 'swallow') cutWhere(({ lost }) => lost)
    },
    lead(next) {
      to = next
      cutWhere(() => true)
    },
    close: refuse,
  }
}
