import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { until } from './embedded-clickhouse.ts'
import { fixedPort } from './fixed-port.ts'

/** A Redis of its own on a loopback port; gone, with its data, when this process is. */
export interface RedisServer {
  /** Empties the server, unless told not to, and answers its URL. */
  url(empty?: boolean): Promise<string>
  /** Ends the server as a crash would; what was appended is on disk. */
  kill(): Promise<void>
  /** Starts the server again on the same port and data. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Ends the server when standard input ends, which it does when the parent is gone, however it went. */
const WATCHDOG = `exec 3<&0
"$@" </dev/null 3<&- & child=$!
(cat <&3 >/dev/null; while kill -KILL $child 2>/dev/null; do sleep 0.1; done) &
wait $child`

function findProgram(): string | undefined {
  const dirs = (process.env['PATH'] ?? '').split(':')
  return dirs.map((dir) => join(dir, 'redis-server')).find((file) => existsSync(file))
}

/**
 * True when the tests can have a Redis here. In CI they must: then this is true, and starting it fails, unless `.ci/run` has
 * found and said that it cannot be installed.
 */
export function hasRedis(): boolean {
  const { CI, WITHOUT_REDIS } = process.env
  return findProgram() !== undefined || (CI === '1' && WITHOUT_REDIS !== '1')
}

/** Calls a command on a connection of its own. */
async function call(url: string, ...command: [string, ...string[]]): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await client.call(...command)
  } finally {
    client.disconnect()
  }
}

/** Waits until the server of `dir` answers, and no other that has come to listen there. */
async function untilItAnswers(url: string, dir: string, child: ChildProcess): Promise<void> {
  await until('Redis answers', async () => {
    if (child.exitCode !== null) throw new Error(`Redis ended with ${child.exitCode} at its start`)
    const found = await call(url, 'CONFIG', 'GET', 'dir').catch(() => [])
    return (found as string[])[1] === dir
  })
}

/** Starts a private Redis that writes what it keeps to disk. */
export async function startRedis(): Promise<RedisServer> {
  const program = findProgram()
  if (program === undefined) throw new Error('Redis is not installed')
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'weir-redis-')))
  const port = await fixedPort()
  const url = `redis://127.0.0.1:${port}`
  const settings = {
    bind: '127.0.0.1',
    port,
    dir,
    save: '',
    appendonly: 'yes',
    appendfsync: 'no',
    loglevel: 'warning',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  let child: ChildProcess | undefined
  const server: RedisServer = {
    async url(empty = true) {
      if (empty) await call(url, 'FLUSHALL')
      return url
    },
    async start() {
      child = spawn('sh', ['-c', WATCHDOG, 'sh', program, ...args], { stdio: ['pipe', 'ignore', 'ignore'] })
      await untilItAnswers(url, dir, child)
    },
    async kill() {
      const ending = child
      if (ending === undefined || ending.exitCode !== null) return
      const ended = new Promise((done) => ending.once('exit', done))
      ending.stdin?.end()
      await ended
    },
    async stop() {
      await server.kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}
