import { readdir, readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { KEY, startWeir, type WeirProcess } from '../test/support/servers/weir-process.ts'
import { temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { startPostgres } from '../test/support/stores/sql/postgres.ts'
import { startRedis } from '../test/support/stores/redis.ts'
import { openPostgres } from '../src/storage/sql/driver/postgres.ts'
import { PYTHON } from '../test/support/python.ts'

// The cost of a run for which the client waits, on SQLite and on Postgres with Redis: runs a second, CPU of the server
// and of its hosts, statements and appends. Passes of several checkouts alternate:
//   node scripts/launch.mjs bench/waited-runs.bench.ts [other checkout…]
// Variables: LANGUAGE=python runs the Python graph, TRACED=1 traces the runs, and PASSES, RUNS and STORES (such as
// sqlite,postgres) set the extent.
const {
  LANGUAGE = 'typescript',
  TRACED,
  PASSES = '5',
  RUNS = '640',
  STORES = 'sqlite,postgres',
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

interface Server {
  checkout: string
  store: string
  weir: WeirProcess
  database: string | undefined
}

/** The measurements of one pass: times, statements and transactions. */
interface Pass {
  rate: number
  p50: number
  server_ms: number
  hosts_ms: number
  statements: number
  transactions: number
}

/** CPU time in ms of the server, and of its graph hosts. */
async function cpuMs(server: number): Promise<{ own: number; hosts: number }> {
  const used = { own: 0, hosts: 0 }
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const fields = stat.replace(/^.*\) /, '').split(' ')
    // User and system time, in ticks of 10 ms.
    const ms = (Number(fields[11]) + Number(fields[12])) * 10
    if (Number(name) === server) used.own += ms
    if (Number(fields[1]) !== server) continue
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (/graph-host|weir_host/.test(command)) used.hosts += ms
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

async function runAll(url: string, count: number): Promise<number[]> {
  const times: number[] = []
  let left = count
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
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
    const told = await database.query<{ calls: number; query: string }>(
      `SELECT calls, query FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = current_database() ORDER BY calls DESC LIMIT 45`,
    )
    for (const { calls, query } of told)
      console.log(String(calls).padStart(6), query.replace(/\s+/g, ' ').slice(0, 180))
  }
  await database.close()
  return [rows[0]?.all ?? 0, rows[0]?.begun ?? 0]
}

async function pass({ weir, database }: Server): Promise<Pass> {
  const [allBefore, begunBefore] = await statementsOf(database)
  const before = await cpuMs(weir.pid)
  const begun = performance.now()
  const times = (await runAll(weir.url, COUNT)).toSorted((a, b) => a - b)
  const ms = performance.now() - begun
  const after = await cpuMs(weir.pid)
  const [all, transactions] = await statementsOf(database)
  return {
    rate: (COUNT * 1000) / ms,
    p50: times[COUNT >> 1] ?? 0,
    server_ms: (after.own - before.own) / COUNT,
    hosts_ms: (after.hosts - before.hosts) / COUNT,
    statements: (all - allBefore) / COUNT,
    transactions: (transactions - begunBefore) / COUNT,
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

const data = await temporaryDir()
const postgres = await startPostgres({
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_utility': 'on',
})
const redis = await startRedis()
const servers: Server[] = []
for (const [index, checkout] of checkouts.entries()) {
  for (const store of STORES.split(',')) {
    const database = store === 'sqlite' ? undefined : await postgres.createDatabase()
    if (database !== undefined) {
      const made = openPostgres(database)
      await made.query('CREATE EXTENSION pg_stat_statements')
      await made.close()
    }
    const environment = {
      GRAPHS: join(HERE, 'test/fixtures', folder, 'langgraph.json'),
      DEPLOYMENT_NAME: 'bench',
      RUN_TRACING: TRACED === undefined ? 'off' : 'on',
      VIRTUAL_ENV: join(PYTHON, '..', '..'),
      ...(database !== undefined && {
        DATABASE_URL: database,
        REDIS_URL: `${await redis.url(false)}/${index}`,
      }),
      ...(process.env['PROFILES'] !== undefined && {
        NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${process.env['PROFILES']}/${store}-${index}`,
      }),
    }
    const main = join(checkout, 'src/main.ts')
    const weir = await startWeir(join(data.dir, `${store}-${index}`), environment, [], main)
    servers.push({ checkout, store, weir, database })
    await runAll(weir.url, COUNT)
  }
}

const measured = servers.map((): Pass[] => [])
for (let n = 0; n < Number(PASSES); n++)
  for (const [index, server] of servers.entries()) measured[index]?.push(await pass(server))

for (const [index, { checkout, store }] of servers.entries()) {
  const of = (key: keyof Pass): string => median((measured[index] ?? []).map((one) => one[key])).toFixed(1)
  console.log(
    `${store.padEnd(9)} ${of('rate')} runs/s, p50 ${of('p50')} ms, CPU a run ${of('server_ms')} ms in the server, ${of('hosts_ms')} ms in its hosts, ${of('statements')} statements, ${of('transactions')} transactions — ${checkout}, load ${os.loadavg()[0]?.toFixed(1)}`,
  )
}

agent.destroy()
for (const { weir } of servers) await weir.stop()
await Promise.all([postgres.stop(), redis.stop()])
await data.remove()
