import { execFile, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { openPostgres } from '../../../../src/storage/sql/driver/postgres.ts'
import { until } from '../clickhouse/embedded-clickhouse.ts'
import { fixedPort } from '../../fixed-port.ts'
import { endWatched, spawnWatched } from '../../servers/watched-child.ts'

/** A private Postgres on a loopback port; it ends with this process, and its data is removed. */
export interface PostgresCluster {
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>
  /** Ends the server as a crash would. */
  kill(): Promise<void>
  /** Starts the server again on the same port and data. */
  start(): Promise<void>
  /** Ends the server and removes its data. */
  stop(): Promise<void>
  readonly port: number
  /** Starts a copy that follows the server; from then on the server confirms only commits that the copy has. */
  startStandby(): Promise<Standby>
}

/** A synchronous copy of a cluster. */
export interface Standby {
  readonly port: number
  /** Makes the copy accept writes after its server has ended. */
  promote(): Promise<void>
  stop(): Promise<void>
}

const DEBIAN_DIR = '/usr/lib/postgresql'
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '16MB',
  max_connections: '60',
  log_min_messages: 'panic',
}

const WATCHED = { signal: 'QUIT', stderr: 'inherit' } as const

const run = promisify(execFile)

/**
 * Folder of the server's programs: on the PATH, or where Debian installs them; undefined when they are not installed.
 */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN_DIR) ? readdirSync(DEBIAN_DIR).sort((a, b) => Number(b) - Number(a)) : []
  const dirs = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...versions.map((name) => join(DEBIAN_DIR, name, 'bin')),
  ]
  return dirs.find((dir) => existsSync(join(dir, 'initdb')) && existsSync(join(dir, 'postgres')))
}

/**
 * The reason to skip tests that need Postgres, for their titles; '' when they can run. In CI it is '', so that tests
 * without Postgres fail, unless `.ci/run` has reported that it cannot be installed.
 */
export function withoutPostgres(): string {
  const { CI, WITHOUT_POSTGRES } = process.env
  const canRun = findPrograms() !== undefined || (CI === '1' && WITHOUT_POSTGRES !== '1')
  return canRun ? '' : ' (Postgres is not installed)'
}

/**
 * The user that Postgres runs as, because it refuses to run as root: the user of its package, or nobody. Undefined if
 * this process is not root.
 */
export async function ownUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(() => undefined)
    if (ids) return { uid: Number(ids[0]?.stdout), gid: Number(ids[1]?.stdout) }
  }
  throw new Error('there is no user that Postgres could run as')
}

/**
 * Waits until the server of `dir` answers. Its folder is compared, because another server may have started on the port.
 */
async function untilItAnswers(url: string, dir: string, child: ChildProcess): Promise<void> {
  const database = openPostgres(url)
  try {
    await until('Postgres answers', async () => {
      if (child.exitCode !== null) throw new Error(`Postgres ended with ${child.exitCode} at its start`)
      const rows = await database.query<{ data_directory: string }>('SHOW data_directory').catch(() => [])
      return rows[0]?.data_directory === dir
    })
  } finally {
    await database.close()
  }
}

/**
 * Starts a private Postgres, which takes about a second. It sorts text by the rules of a language, not by code point,
 * so that a statement which assumes the order by code point fails. `more` contains further settings of Postgres.
 */
export async function startPostgres(more: Readonly<Record<string, string>> = {}): Promise<PostgresCluster> {
  const programs = findPrograms()
  if (programs === undefined) throw new Error('Postgres is not installed')
  const user = await ownUser()
  const home = await realpath(await mkdtemp(join(tmpdir(), 'weir-pg-')))
  if (user) await chown(home, user.uid, user.gid)
  const dir = join(home, 'data')
  const options = { ...user, cwd: home }
  const locale = ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US', '--encoding=UTF8']
  await run(
    join(programs, 'initdb'),
    ['-D', dir, '-U', 'weir', '-A', 'trust', '--no-sync', ...locale],
    options,
  )
  const port = await fixedPort()
  const urlOf = (name: string): string => `postgresql://weir@127.0.0.1:${port}/${name}`
  const settings = Object.entries({ ...SETTINGS, ...more, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  let child: ChildProcess | undefined

  const cluster: PostgresCluster = {
    async createDatabase() {
      const name = `t${randomBytes(6).toString('hex')}`
      const database = openPostgres(urlOf('postgres'))
      await database.query(`CREATE DATABASE ${name}`)
      await database.close()
      return urlOf(name)
    },
    async start() {
      child = spawnWatched([join(programs, 'postgres'), '-D', dir, ...settings], { ...options, ...WATCHED })
      await untilItAnswers(urlOf('postgres'), dir, child)
    },
    async kill() {
      await endWatched(child)
    },
    async stop() {
      await cluster.kill()
      await rm(home, { recursive: true, force: true })
    },
    port,
    startStandby: () => startStandby(programs, port, user),
  }
  await cluster.start()
  return cluster
}

async function startStandby(
  programs: string,
  primary: number,
  user: { uid: number; gid: number } | undefined,
): Promise<Standby> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'weir-pg-')))
  if (user) await chown(home, user.uid, user.gid)
  const dir = join(home, 'data')
  const options = { ...user, cwd: home }
  const from = ['-h', '127.0.0.1', '-p', String(primary), '-U', 'weir']
  // `postgres` may be a symbolic link in a folder that lacks the other programs; they are beside its target.
  const realPrograms = dirname(await realpath(join(programs, 'postgres')))
  await run(
    join(realPrograms, 'pg_basebackup'),
    ['-D', dir, ...from, '-R', '--no-sync', '-c', 'fast'],
    options,
  )
  const port = await fixedPort()
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const child = spawnWatched([join(programs, 'postgres'), '-D', dir, ...settings], { ...options, ...WATCHED })
  await untilItAnswers(`postgresql://weir@127.0.0.1:${port}/postgres`, dir, child)
  const server = openPostgres(`postgresql://weir@127.0.0.1:${primary}/postgres`)
  await server.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
  await server.query('SELECT pg_reload_conf()')
  await until('the standby follows', async () => {
    const rows = await server.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
    return rows.length > 0
  })
  await server.close()
  return {
    port,
    async promote() {
      const standby = openPostgres(`postgresql://weir@127.0.0.1:${port}/postgres`)
      await standby.query('SELECT pg_promote()')
      await standby.close()
    },
    async stop() {
      await endWatched(child)
      await rm(home, { recursive: true, force: true })
    },
  }
}
