import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { createSender } from './sender.ts'

afterEach(() => void vi.useRealTimers())

/** A connection whose client has not read `unread` bytes. */
function connection(unread: number) {
  const socket = Object.assign(new EventEmitter(), {
    writableLength: unread,
    writableCorked: 1,
  }) as unknown as Duplex
  const webSocket = { OPEN: 1, readyState: 1, send: vi.fn() } as unknown as WebSocket
  const tooSlow = vi.fn()
  return { socket, tooSlow, sender: createSender(webSocket, socket, tooSlow) }
}

it('a client that reads nothing for a minute while much waits is too slow, and is closed with 1013 (V-37)', async () => {
  vi.useFakeTimers()
  const { sender, tooSlow } = connection((1 << 20) + 1)
  const sent = sender.send('x')
  vi.advanceTimersByTime(59_000)
  expect(tooSlow).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1_000)
  expect(tooSlow).toHaveBeenCalledOnce()
  expect(await sent).toBe(false)
})

it('sending waits while more than 1 MiB is unread (V-39)', async () => {
  expect(await connection(1 << 20).sender.send('x')).toBe(true)
  const { socket, sender } = connection((1 << 20) + 1)
  const sent = sender.send('x')
  const first = await Promise.race([sent, new Promise((resolve) => setImmediate(() => resolve('waits')))])
  expect(first).toBe('waits')
  socket.emit('drain')
  expect(await sent).toBe(true)
})
