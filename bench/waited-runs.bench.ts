import { mkdir, readdir, readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { KEY, startWeir, type WeirProcess } from '../test/support/servers/weir-process.ts'
import { temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { startPostgres } from '../test/support/stores/sql/postgres.ts'
import { startRedis } from '../test/support/stores/redis.ts'
import { openPostgres } from '../src/storage/sql/driver/postgres.ts'
import { PYTHON } from '../test/support/python.ts'

// The cost of a run for which the client waits, on SQLite and on Postgres with Redis: runs a second, CPU of the servers,
// of their hosts, of Postgres and of Redis, and statements. Passes of several checkouts alternate:
//   node scripts/launch.mjs bench/waited-runs.bench.ts [other checkout…]
// Variables: LANGUAGE=python runs the Python graph, TRACED=1 traces the runs, and PASSES, RUNS, STORES (such as
// sqlite,postgres,postgres-c) and SERVERS (numbers of servers on the same stores, such as 1,2,4) set the extent. TOLD=1
// prints calls, plans and time in ms of the statements before and after each pass.
const {
  LANGUAGE = 'typescript',
  TRACED,
  PASSES = '5',
  RUNS = '640',
  STORES = 'sqlite,postgres',
  SERVERS = '1',
} = process.env
const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 32)
const COUNT = Number(RUNS)

const HERE = fileURLToPath(new URL('..', import.meta.url))
const checkouts = [HERE, ...process.argv.slice(2).map((path) => resolve(path))]
const BODY = JSON.stringify({
  assistant_id: 'tokens',
  input: { messages: [{ role: 'user', content: 'hi' }] },
})
const folder = LANGUAGE === 'python' ? 'python-graphs' : 'graphs'

interface Group {
  checkout: string
  store: string
  servers: WeirProcess[]
  database: string | undefined
}

/** The measurements of one pass: times, statements and transactions. */
interface Pass {
  rate: number
  p50: number
  server_ms: number
  hosts_ms: number
  postgres_ms: number
  redis_ms: number
  statements: number
  transactions: number
}

/** CPU time in ms of some servers, of their graph hosts, and of the processes of this bench's Postgres and Redis. */
async function cpuMs(servers: ReadonlySet<number>) {
  const used = { own: 0, hosts: 0, postgres: 0, redis: 0 }
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const fields = stat.replace(/^.*\) /, '').split(' ')
    // User and system time, in ticks of 10 ms.
    const ms = (Number(fields[11]) + Number(fields[12])) * 10
    const parent = Number(fields[1])
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (servers.has(Number(name))) used.own += ms
    else if (servers.has(parent) && /graph-host|weir_host/.test(command)) used.hosts += ms
    else if (parent === postmaster) used.postgres += ms
    // With the time of connections that have ended.
    else if (Number(name) === postmaster) used.postgres += ms + (Number(fields[13]) + Number(fields[14])) * 10
    else if (/redis-server/.test(command) && command.includes(`:${redisPort}`)) used.redis += ms
  }
  return used
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

function wait(url: string): Promise<void> {
  return new Promise((done, failed) => {
    const asked = request(
      `${url}/deployments/bench/runs/wait`,
      { agent, method: 'POST', headers: { 'x-api-key': KEY, 'content-type': 'application/json' } },
      (answer) => {
        let text = ''
        answer.on('data', (part: Buffer) => (text += part.toString()))
        answer.on('end', () =>
          text.includes('"done":true') ? done() : failed(new Error(`${answer.statusCode} ${text}`)),
        )
      },
    )
    asked.on('error', failed)
    asked.end(BODY)
  })
}

async function runAll(servers: readonly WeirProcess[], count: number): Promise<number[]> {
  const times: number[] = []
  let left = count
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, connection) => {
      const { url = '' } = servers[connection % servers.length] ?? {}
      while (left-- > 0) {
        const begun = performance.now()
        await wait(url)
        times.push(performance.now() - begun)
      }
    }),
  )
  return times
}

/** The number of statements that the database has executed, and the number of transactions in which they were. */
async function statementsOf(url: string | undefined): Promise<[all: number, begun: number]> {
  if (url === undefined) return [0, 0]
  const database = openPostgres(url)
  const rows = await database.query<{ all: number; begun: number }>(
    `SELECT sum(calls) AS all, sum(calls) FILTER (WHERE query ILIKE 'begin%') AS begun FROM pg_stat_statements s
      JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = current_database()`,
  )
  if (process.env['TOLD'] !== undefined) {
    const told = await database.query<{ calls: number; plans: number; ms: number; query: string }>(
      `SELECT calls, plans, total_plan_time + total_exec_time AS ms, query FROM pg_stat_statements s
        JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = current_database() ORDER BY ms DESC LIMIT 45`,
    )
    for (const { calls, plans, ms, query } of told) {
      const figures = [calls, plans, Math.round(ms)].map((figure) => String(figure).padStart(6))
      console.log(...figures, query.replace(/\s+/g, ' ').slice(0, 180))
    }
  }
  await database.close()
  return [rows[0]?.all ?? 0, rows[0]?.begun ?? 0]
}

async function pass({ servers, database }: Group): Promise<Pass> {
  const pids = new Set(servers.map(({ pid }) => pid))
  const [allBefore, begunBefore] = await statementsOf(database)
  const before = await cpuMs(pids)
  const begun = performance.now()
  const times = (await runAll(servers, COUNT)).toSorted((a, b) => a - b)
  const ms = performance.now() - begun
  const after = await cpuMs(pids)
  const [all, transactions] = await statementsOf(database)
  return {
    rate: (COUNT * 1000) / ms,
    p50: times[COUNT >> 1] ?? 0,
    server_ms: (after.own - before.own) / COUNT,
    hosts_ms: (after.hosts - before.hosts) / COUNT,
    postgres_ms: (after.postgres - before.postgres) / COUNT,
    redis_ms: (after.redis - before.redis) / COUNT,
    statements: (all - allBefore) / COUNT,
    transactions: (transactions - begunBefore) / COUNT,
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

/** The first process of the Postgres at `url`. */
async function postmasterOf(url: string): Promise<number> {
  const database = openPostgres(url)
  const [row] = await database.query<{ data_directory: string }>('SHOW data_directory')
  await database.close()
  const text = await readFile(join(row?.data_directory ?? '', 'postmaster.pid'), 'utf8')
  return Number(text.split('\n')[0])
}

const data = await temporaryDir()
const postgres = await startPostgres({
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_utility': 'on',
  ...(process.env['TOLD'] !== undefined && { 'pg_stat_statements.track_planning': 'on' }),
  max_connections: '400',
})
const redis = await startRedis()
const redisUrl = await redis.url(false)
const redisPort = new URL(redisUrl).port
const postmaster = await postmasterOf(await postgres.createDatabase())

/** A new database of Postgres; for `postgres-c` one that compares text byte by byte, not by the rules of a language. */
async function databaseOf(store: string, place: number): Promise<string | undefined> {
  if (store === 'sqlite') return undefined
  const url = await postgres.createDatabase()
  if (store === 'postgres') return url
  const server = openPostgres(url)
  await server.query(`CREATE DATABASE c${place} TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'`)
  await server.close()
  return new URL(`/c${place}`, url).href
}

async function startGroup(checkout: string, store: string, count: number, place: number): Promise<Group> {
  const database = await databaseOf(store, place)
  if (database !== undefined) {
    const made = openPostgres(database)
    await made.query('CREATE EXTENSION pg_stat_statements')
    await made.close()
  }
  const home = join(data.dir, `${store}-${place}-${count}`)
  const environment = {
    GRAPHS: join(HERE, 'test/fixtures', folder, 'langgraph.json'),
    DEPLOYMENT_NAME: 'bench',
    RUN_TRACING: TRACED === undefined ? 'off' : 'on',
    VIRTUAL_ENV: join(PYTHON, '..', '..'),
    ...(database !== undefined && {
      DATABASE_URL: database,
      REDIS_URL: `${redisUrl}/${place}`,
      BLOB_URL: pathToFileURL(join(home, 'blobs')).href,
    }),
    ...(process.env['PROFILES'] !== undefined && {
      NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${process.env['PROFILES']}/${store}-${place}`,
    }),
  }
  const main = join(checkout, 'src/main.ts')
  const servers: WeirProcess[] = []
  for (let n = 0; n < count; n++) {
    await mkdir(join(home, `${n}`), { recursive: true })
    servers.push(await startWeir(join(home, `${n}`), environment, [], main))
  }
  await runAll(servers, COUNT)
  return { checkout, store, servers, database }
}

const groups: Group[] = []
for (const checkout of checkouts) {
  for (const store of STORES.split(',')) {
    for (const count of store === 'sqlite' ? [1] : SERVERS.split(',').map(Number))
      groups.push(await startGroup(checkout, store, count, groups.length))
  }
}

const measured = groups.map((): Pass[] => [])
for (let n = 0; n < Number(PASSES); n++)
  for (const [index, group] of groups.entries()) measured[index]?.push(await pass(group))

for (const [index, { checkout, store, servers }] of groups.entries()) {
  const of = (key: keyof Pass): string => median((measured[index] ?? []).map((one) => one[key])).toFixed(1)
  console.log(
    `${store.padEnd(9)} ${servers.length} servers: ${of('rate')} runs/s, p50 ${of('p50')} ms, CPU a run ${of('server_ms')} ms in servers, ${of('hosts_ms')} ms in hosts, ${of('postgres_ms')} ms in Postgres, ${of('redis_ms')} ms in Redis, ${of('statements')} statements, ${of('transactions')} transactions — ${checkout}, load ${os.loadavg()[0]?.toFixed(1)}`,
  )
}

agent.destroy()
for (const { servers } of groups) for (const weir of servers) await weir.stop()
await Promise.all([postgres.stop(), redis.stop()])
await data.remove()
