import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** Sends texts over a socket as fast as the client reads them. */
export interface Sender {
  /** Resolves with true when more can be sent, with false when the socket is closed. */
  send(text: string): Promise<boolean>
}

/** Bytes that may wait to be sent (V-39). */
const MAX_WAITING_BYTES = 1 << 20
/** Time without reading after which a client is too slow. */
const IDLE_MS = 60_000

const SENDS: Promise<boolean> = Promise.resolve(true)
const CLOSED: Promise<boolean> = Promise.resolve(false)

/** `tooSlow` is called when the client has read nothing for a minute while much was waiting. */
export function createSender(webSocket: WebSocket, socket: Duplex, tooSlow: () => void): Sender {
  let draining: Promise<boolean> | undefined

  function drained(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const settle = (isOpen: boolean) => (): void => {
      clearTimeout(timer)
      socket.off('drain', take)
      socket.off('close', leave)
      draining = undefined
      resolve(isOpen)
    }
    const [take, leave] = [settle(true), settle(false)]
    const timer = setTimeout(() => {
      tooSlow()
      leave()
    }, IDLE_MS)
    socket.once('drain', take)
    socket.once('close', leave)
    return promise
  }

  return {
    send(text) {
      if (webSocket.readyState !== webSocket.OPEN) return CLOSED
      // Frames of the same turn become one write.
      if (socket.writableCorked === 0) {
        socket.cork()
        setImmediate(() => socket.uncork())
      }
      webSocket.send(text)
      if (socket.writableLength <= MAX_WAITING_BYTES) return SENDS
      return (draining ??= drained())
    },
  }
}
