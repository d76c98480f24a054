import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fixedPort } from '../../fixed-port.ts'

/**
 * The state of the connection between a server and one of its stores.
 * - `pass`: nothing. `late`: each piece takes `ms` longer in each direction; with `every`, only one of so many, like a
 *   packet that was lost and is sent again.
 * - `swallow`: no bytes arrive, and neither side is notified; `answers` only those of the store.
 * - `refuse`: connections are cut, new ones refused.
 */
export type Line =
  | { readonly kind: 'pass' | 'refuse' }
  | { readonly kind: 'late'; readonly ms: number; readonly every?: number }
  | { readonly kind: 'swallow'; readonly only?: 'answers' }

/** A connection to a store, for any protocol. */
export interface TcpProxy {
  readonly port: number
  /**
   * Sets the state for all bytes from now on, also on open connections. Swallowed bytes stay lost: their connections
   * are cut.
   */
  set(line: Line): Promise<void>
  /** Sets the target of connections from now on; open ones are cut. */
  lead(port: number): void
  close(): Promise<void>
}

/** Listens on a port of `host` and forwards to another one of 127.0.0.1. */
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
      // One piece after the other, so that their order is kept.
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
