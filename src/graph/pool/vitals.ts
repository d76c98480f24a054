import type { AsyncLocalStorage } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { connect, Socket } from 'node:net'
import { inspect } from 'node:util'
import { takeUmask } from '../../base/files/umask.ts'
import { collectGarbage } from '../../base/node/collect-garbage.ts'
import { CHANNEL_FLAG } from '../../base/node/confined-command.ts'
import { takeFlag } from '../../base/node/take-flag.ts'
import { type Channel, encodeFrame } from './channel.ts'
import { JOB_OF_CODE } from './inspector/inspector.ts'
import { type FromHost, MAX_MESSAGE_CHARS } from './messages.ts'

/** The file descriptor of a host's channel to the server. It is used if the host gets no path of a socket. */
const CHANNEL_FD = 3

/**
 * Opens the socket of the channel to the server. When the socket closes, the process ends. A terminal or systemd sends
 * SIGINT and SIGTERM to the whole process group; they are ignored, because the server waits for running work and ends
 * its children last. Sets the umask with which the server was started, for files that user code creates.
 */
export function openServerSocket(): Socket {
  takeUmask(process.argv)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  // After the server was killed, writing output fails. Without a listener, this error would be an uncaught exception,
  // whose report would fail again, in an endless loop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const path = takeFlag(process.argv, CHANNEL_FLAG)
  const socket =
    path === undefined ? new Socket({ fd: CHANNEL_FD, readable: true, writable: true }) : connect(path)
  return socket.on('close', endProcess)
}

/** Ends this process. An exit handler of user code that throws cannot prevent it. */
function endProcess(): void {
  try {
    process.exit(0)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}

/** Writes to the channel synchronously; for the last message of a process. */
export function writeLast(socket: Socket, bytes: Uint8Array): void {
  const { _handle } = socket as { _handle?: { fd: number } }
  writeSync(_handle?.fd ?? CHANNEL_FD, bytes)
}

/** Interval of heartbeats. A host gets no new jobs after four times this interval without a message. */
const BEAT_MS = 250
/** Idle time after which a host runs a garbage collection, to release the memory of its work. */
const REST_MS = 10_000

/** Sends heartbeats of the host while it has jobs. An idle host sends none. */
export interface Heart {
  begin(): void
  end(): void
}

/**
 * Creates a heart that sends `beat` on the channel four times a second, from the first `begin` until each job has
 * called `end`.
 */
export function createHeart(channel: Channel<FromHost>): Heart {
  let active = 0
  let timer: NodeJS.Timeout | undefined
  let rest: NodeJS.Timeout | undefined
  return {
    begin() {
      active += 1
      timer ??= setInterval(() => channel.send({ type: 'beat' }), BEAT_MS)
    },
    end() {
      active -= 1
      if (active > 0) return
      clearInterval(timer)
      timer = undefined
      clearTimeout(rest)
      rest = setTimeout(() => {
        if (active === 0) collectGarbage('last-resort')
      }, REST_MS)
    },
  }
}

/**
 * Reports what user code causes in the process. An exit is reported just before it happens, with the job that caused
 * it, which is known from the asynchronous context. An uncaught error fails its job and retires the host, but does not
 * end the other jobs. `last` must write to the channel synchronously.
 */
export function watchProcess(
  channel: Channel<FromHost>,
  jobs: AsyncLocalStorage<number>,
  running: ReadonlyMap<number, AbortController>,
  last: (bytes: Uint8Array) => void,
): void {
  Object.defineProperty(globalThis, JOB_OF_CODE, { value: () => jobs.getStore() })
  process.on('exit', (code) => {
    const id = jobs.getStore()
    if (id === undefined || !running.has(id)) return
    const message = `The graph ended its process with code ${code}.`
    try {
      last(encodeFrame({ type: 'culprit', id, message }))
    } catch {
      // The server detects the exit without this message too.
    }
  })
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`Uncaught exception in graph code: ${inspect(error)}\n`)
    const told: unknown = error instanceof Error ? error.message : error
    const message = typeof told === 'string' ? told : inspect(told)
    channel.send({ type: 'retire', message: message.slice(0, MAX_MESSAGE_CHARS) })
    const id = jobs.getStore()
    if (id !== undefined) running.get(id)?.abort(error)
  })
  process.on('unhandledRejection', (reason) => {
    process.stderr.write(`Unhandled rejection in graph code: ${inspect(reason)}\n`)
  })
}
