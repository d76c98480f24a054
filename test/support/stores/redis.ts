import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { until } from './clickhouse/embedded-clickhouse.ts'
import { fixedPort } from '../fixed-port.ts'
import { endWatched, spawnWatched } from '../servers/watched-child.ts'

/** A private Redis on a loopback port; it ends with this process, and its data is removed. */
export interface RedisServer {
  /** Returns the server's URL, by default after emptying the server. */
  url(empty?: boolean): Promise<string>
  /** Ends the server as a crash would; appended data is on disk. */
  kill(): Promise<void>
  /** Starts the server again on the same port and data. */
  start(): Promise<void>
  stop(): Promise<void>
}

function findProgram(): string | undefined {
  const dirs = (process.env['PATH'] ?? '').split(':')
  return dirs.map((dir) => join(dir, 'redis-server')).find((file) => existsSync(file))
}

/** The reason to skip tests that need Redis, for their titles; '' when they can run. See `withoutPostgres` about CI. */
export function withoutRedis(): string {
  const { CI, WITHOUT_REDIS } = process.env
  const canRun = findProgram() !== undefined || (CI === '1' && WITHOUT_REDIS !== '1')
  return canRun ? '' : ' (Redis is not installed)'
}

/** Calls a command on a new connection. */
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

/** Waits until the server of `dir` answers; another server may have started on the port. */
async function untilItAnswers(url: string, dir: string, child: ChildProcess): Promise<void> {
  await until('Redis answers', async () => {
    if (child.exitCode !== null) throw new Error(`Redis ended with ${child.exitCode} at its start`)
    const found = await call(url, 'CONFIG', 'GET', 'dir').catch(() => [])
    return (found as string[])[1] === dir
  })
}

/** Starts a Redis Sentinel that watches nothing; `url` is its address. */
export async function startSentinel(): Promise<{ url: string; stop(): Promise<void> }> {
  const program = findProgram()
  if (program === undefined) throw new Error('Redis is not installed')
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'weir-redis-')))
  const port = await fixedPort()
  const file = join(dir, 'sentinel.conf')
  await writeFile(file, `bind 127.0.0.1\nport ${port}\ndir ${dir}\n`)
  const child = spawnWatched([program, file, '--sentinel'], { signal: 'KILL', stderr: 'ignore' })
  const url = `redis://127.0.0.1:${port}`
  await until('Sentinel answers', async () => (await call(url, 'PING').catch(() => '')) === 'PONG')
  return {
    url,
    async stop() {
      await endWatched(child)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Starts a private Redis that writes its data to disk. `more` are settings of Redis. */
export async function startRedis(more: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
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
    ...more,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  let child: ChildProcess | undefined
  const server: RedisServer = {
    async url(empty = true) {
      if (empty) await call(url, 'FLUSHALL')
      return url
    },
    async start() {
      child = spawnWatched([program, ...args], { signal: 'KILL', stderr: 'ignore' })
      await untilItAnswers(url, dir, child)
    },
    async kill() {
      await endWatched(child)
    },
    async stop() {
      await server.kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}
