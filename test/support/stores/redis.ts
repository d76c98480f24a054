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
  /** Makes the server a replica of another one. Resolves when it has the data of the other. */
  follow(primary: string): Promise<void>
  /** Stops the process: its connections stay open, but nothing is answered. */
  freeze(): Promise<void>
  /** Ends the server with SIGKILL; appended data is on disk. */
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

/**
 * Waits until the server of `dir` answers. Its folder is compared, because another server may have started on the port.
 */
async function untilItAnswers(url: string, dir: string, child: ChildProcess): Promise<void> {
  await until('Redis answers', async () => {
    if (child.exitCode !== null) throw new Error(`Redis ended with ${child.exitCode} at its start`)
    const found = await call(url, 'CONFIG', 'GET', 'dir').catch(() => [])
    return (found as string[])[1] === dir
  })
}

/** The name of the primary that Sentinels watch, and the number of Sentinels that must agree before it is replaced. */
export interface Watched {
  primary: string
  quorum: number
}

/** A Redis Sentinel; `host` is its address. */
export interface Sentinel {
  readonly host: string
  /** Port of the primary. */
  primary(): Promise<number>
  /** Whether enough Sentinels know each other to replace the primary, and its replica has its data. */
  isPrepared(): Promise<boolean>
  stop(): Promise<void>
}

/** Starts a Sentinel. A primary counts as gone after half a second without an answer. */
export async function startSentinel(watched?: Watched): Promise<Sentinel> {
  const program = findProgram()
  if (program === undefined) throw new Error('Redis is not installed')
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'weir-redis-')))
  const port = await fixedPort()
  const file = join(dir, 'sentinel.conf')
  const lines = [`bind 127.0.0.1`, `port ${port}`, `dir ${dir}`]
  if (watched !== undefined) {
    const { hostname, port: primary } = new URL(watched.primary)
    lines.push(
      `sentinel monitor main ${hostname} ${primary} ${watched.quorum}`,
      'sentinel down-after-milliseconds main 500',
      'sentinel failover-timeout main 1000',
    )
  }
  await writeFile(file, `${lines.join('\n')}\n`)
  const child = spawnWatched([program, file, '--sentinel'], { signal: 'KILL', stderr: 'ignore' })
  const url = `redis://127.0.0.1:${port}`
  await until('Sentinel answers', async () => (await call(url, 'PING').catch(() => '')) === 'PONG')
  const sentinel: Sentinel = {
    host: `127.0.0.1:${port}`,
    async primary() {
      return Number(((await call(url, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')) as string[])[1])
    },
    async isPrepared() {
      const quorum = String(await call(url, 'SENTINEL', 'CKQUORUM', 'main').catch(() => ''))
      const replicas = (await call(url, 'SENTINEL', 'REPLICAS', 'main')) as string[][]
      const fields = replicas.map((words) => new Map(words.map((word, at) => [word, words[at + 1]])))
      const port = `${await sentinel.primary()}`
      const follows = (replica: Map<string, string | undefined>): boolean =>
        replica.get('flags') === 'slave' &&
        replica.get('master-port') === port &&
        replica.get('master-link-status') === 'ok'
      return quorum.startsWith('OK') && fields.some(follows)
    },
    async stop() {
      await endWatched(child)
      await rm(dir, { recursive: true, force: true })
    },
  }
  return sentinel
}

/** Starts a private Redis that writes its data to disk. `more` contains further settings of Redis. */
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
    async follow(primary) {
      const { hostname, port: from } = new URL(primary)
      await call(url, 'REPLICAOF', hostname, from)
      await until('the replica has the data', async () =>
        /master_link_status:up/.test(String(await call(url, 'INFO', 'replication'))),
      )
    },
    async freeze() {
      const [, pid] = /process_id:(\d+)/.exec(String(await call(url, 'INFO', 'server'))) ?? []
      process.kill(Number(pid), 'SIGSTOP')
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
