import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex, Readable } from 'node:stream'
import { expect, it } from 'vitest'

/** A host whose exit handler throws, as the exit handler of a library may. */
const HOST = `
  import { AsyncLocalStorage } from 'node:async_hooks'
  import { openServerSocket, watchProcess } from ${JSON.stringify(new URL('./vitals.ts', import.meta.url).href)}
  openServerSocket().resume().write('ready')
  watchProcess({ send() {}, waiting: 0 }, new AsyncLocalStorage(), new Map(), () => undefined)
  process.on('exit', () => { throw new Error('not now') })
  setInterval(() => undefined, 1000)
`

it('a host ends when its server is gone, also when an exit handler throws and nobody reads what it prints', async () => {
  const host = spawn(process.execPath, ['--input-type=module', '-e', HOST], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const channel = host.stdio[3] as Duplex
  await once(channel, 'data')
  const ended = once(host, 'exit')
  for (const stream of [host.stdout, host.stderr, channel] as Readable[]) stream.destroy()
  await ended
  expect(host.exitCode ?? host.signalCode).toBe('SIGKILL')
})
