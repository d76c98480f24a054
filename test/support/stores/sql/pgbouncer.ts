import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { fixedPort } from '../../fixed-port.ts'
import { endWatched, spawnWatched } from '../../servers/watched-child.ts'
import { until } from '../clickhouse/embedded-clickhouse.ts'
import { ownUser } from './postgres.ts'

/** Path at which Debian installs PgBouncer. */
const PROGRAM = '/usr/sbin/pgbouncer'

/** The reason to skip tests that need PgBouncer, for their titles; see `withoutPostgres`. */
export function withoutPgBouncer(): string {
  const { CI, WITHOUT_PGBOUNCER } = process.env
  return existsSync(PROGRAM) || (CI === '1' && WITHOUT_PGBOUNCER !== '1')
    ? ''
    : ' (PgBouncer is not installed)'
}

/** PgBouncer on a loopback port, in front of the Postgres of `url`. */
export interface PgBouncer {
  /** URL of the same database, through PgBouncer. */
  url: string
  stop(): Promise<void>
}

/** Starts PgBouncer; `settings` are lines of its configuration. */
export async function startPgBouncer(url: string, settings: readonly string[]): Promise<PgBouncer> {
  const user = await ownUser()
  const home = await mkdtemp(join(tmpdir(), 'weir-pgb-'))
  const port = await fixedPort()
  const { hostname, port: server } = new URL(url)
  const file = join(home, 'pgbouncer.ini')
  const lines = [
    // With auth_type = any, the user's name comes from the entry of the database.
    `[databases]\n* = host=${hostname} port=${server} user=weir`,
    `[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
    `auth_type = any\nlogfile = ${join(home, 'log')}`,
    ...settings,
  ]
  await writeFile(file, lines.join('\n'))
  if (user) await Promise.all([home, file].map((path) => chown(path, user.uid, user.gid)))
  const child = spawnWatched([PROGRAM, '-q', file], { ...user, cwd: home, signal: 'KILL', stderr: 'ignore' })
  const through = new URL(url)
  through.port = String(port)
  await until('PgBouncer answers', async () => {
    const client = new pg.Client({ connectionString: through.href })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query('SELECT 1')
      return true
    } catch {
      return false
    } finally {
      await client.end().catch(() => undefined)
    }
  })
  return {
    url: through.href,
    async stop() {
      await endWatched(child)
      await rm(home, { recursive: true, force: true })
    },
  }
}
