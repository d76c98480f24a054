import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openPostgres } from '../../src/storage/sql/postgres.ts'
import { until } from './embedded-clickhouse.ts'
import { fixedPort } from './fixed-port.ts'

/** A Postgres of its own on a loopback port; gone, with its data, when this process is. */
export interface PostgresCluster {
  /** Makes an empty database and answers its URL. */
  createDatabase(): Promise<string>
  /** Ends the server as a crash would. */
  kill(): Promise<void>
  /** Starts the server again on the same port and data. */
  start(): Promise<void>
  /** Ends the server and removes its data. */
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
/**
 * Ends the server when standard input ends, which it does when the parent is gone, however it went. More than once:
 * a process that is only being started ignores the signal.
 */
const WATCHDOG = `exec 3<&0
"$@" </dev/null 3<&- & child=$!
(cat <&3 >/dev/null; while kill -QUIT $child 2>/dev/null; do sleep 0.1; done) &
wait $child`

const run = promisify(execFile)

/** Where the server's programs are: on the PATH, or where Debian keeps them; undefined when they are not installed. */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN_DIR) ? readdirSync(DEBIAN_DIR).sort((a, b) => Number(b) - Number(a)) : []
  const dirs = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...versions.map((name) => join(DEBIAN_DIR, name, 'bin')),
  ]
  return dirs.find((dir) => existsSync(join(dir, 'initdb')) && existsSync(join(dir, 'postgres')))
}

/**
 * True when the tests can have a Postgres here. In CI they must: then this is true, and starting it fails, unless
 * `.ci/run` has found and said that it cannot be installed.
 */
export function hasPostgres(): boolean {
  const { CI, WITHOUT_POSTGRES } = process.env
  return findPrograms() !== undefined || (CI === '1' && WITHOUT_POSTGRES !== '1')
}

/** Postgres refuses root, so root becomes the user that the package made, or nobody. */
async function ownUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(() => undefined)
    if (ids) return { uid: Number(ids[0]?.stdout), gid: Number(ids[1]?.stdout) }
  }
  throw new Error('there is no user that Postgres could run as')
}

/** Waits until the server of `dir` answers, and no other that has come to listen there. */
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
 * Starts a private Postgres, in about a second. Its text is ordered as people of a country do, not by code point,
 * so that a statement that takes the order of text for granted shows.
 */
export async function startPostgres(): Promise<PostgresCluster> {
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
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
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
      const command = ['-c', WATCHDOG, 'sh', join(programs, 'postgres'), '-D', dir, ...settings]
      child = spawn('sh', command, { ...options, stdio: ['pipe', 'ignore', 'inherit'] })
      await untilItAnswers(urlOf('postgres'), dir, child)
    },
    async kill() {
      const ending = child
      if (ending === undefined || ending.exitCode !== null) return
      const ended = new Promise((done) => ending.once('exit', done))
      ending.stdin?.end()
      await ended
    },
    async stop() {
      await cluster.kill()
      await rm(home, { recursive: true, force: true })
    },
  }
  await cluster.start()
  return cluster
}
