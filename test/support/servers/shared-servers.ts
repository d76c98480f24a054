import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startTestClickHouse, temporaryDir } from '../stores/clickhouse/embedded-clickhouse.ts'
import { makeModelTables } from '../stores/clickhouse/clickhouse-database.ts'
import { startTwoShards } from '../stores/clickhouse/two-shards/start-two-shards.ts'
import { TWO_SHARDS } from '../stores/clickhouse/two-shards/two-shards.ts'
import { startPostgres } from '../stores/sql/postgres.ts'
import { makeFirstClickHouse } from '../stores/clickhouse/first-clickhouse.ts'
import type { Shared } from './shared.ts'
import { sharedGraphs, startWeirPool } from './weir-pool.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL at which test files request the use of shared servers; see `shared`. */
    sharedServers: string
  }
}

/** Starts a server on first use; `stop` ends it if it was started. */
function onDemand<T>(start: () => Promise<T>, stop: (started: T) => Promise<unknown>) {
  let started: Promise<T> | undefined
  return {
    get: () => (started ??= start()),
    async stop() {
      const one = await started?.catch(() => undefined)
      if (one !== undefined) await stop(one)
    },
  }
}

async function startClickHouse() {
  const folder = await temporaryDir()
  const engine = await startTestClickHouse(folder.dir)
  return {
    engine,
    async stop() {
      await engine.stop()
      await folder.remove()
    },
  }
}

async function startShards() {
  const folder = await temporaryDir()
  const engine = await startTwoShards(folder.dir)
  return {
    engine,
    async stop() {
      await engine.stop()
      await folder.remove()
    },
  }
}

/** Global setup of vitest: starts each shared server when the first test file asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = onDemand(startPostgres, (cluster) => cluster.stop())
  const clickhouse = onDemand(startClickHouse, (one) => one.stop())
  const clickhouseAddress = async (): Promise<Shared['/clickhouse']> => {
    const { url, username, password } = (await clickhouse.get()).engine
    return { url, username, password }
  }
  const tables = onDemand(
    async () => makeModelTables(await clickhouseAddress()),
    async () => undefined,
  )
  const shards = onDemand(startShards, (one) => one.stop())
  const shardsAddress = async (): Promise<Shared['/two-shards']> => {
    const { url, username, password } = (await shards.get()).engine
    return { url, username, password }
  }
  const shardedTables = onDemand(
    async () => makeModelTables(await shardsAddress(), TWO_SHARDS),
    async () => undefined,
  )
  const firstClickHouse = onDemand(makeFirstClickHouse, (one) => one.stop())
  const weirs = startWeirPool()
  const answers: { [Path in keyof Shared]: (argument: string) => Promise<Shared[Path]> } = {
    '/postgres': async () => ({ url: await (await postgres.get()).createDatabase() }),
    '/clickhouse': clickhouseAddress,
    '/clickhouse/tables': () => tables.get(),
    '/two-shards': shardsAddress,
    '/two-shards/tables': () => shardedTables.get(),
    '/first-clickhouse': async () => ({ dir: (await firstClickHouse.get()).dir }),
    '/weir': () => weirs.lend('new organization', sharedGraphs()),
    '/weir/deployment': (folder) => weirs.lend('deployment', folder || sharedGraphs()),
    '/weir/give-back': async (id) => (await weirs.takeBack(id), null),
  }
  // Clients close idle connections: a request that is sent while the server closes its connection gets ECONNRESET.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    answers[pathname as keyof Shared](searchParams.get('argument') ?? '').then(
      (answer) => response.end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  project.provide('sharedServers', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    await Promise.all([
      postgres.stop(),
      clickhouse.stop(),
      shards.stop(),
      firstClickHouse.stop(),
      weirs.stop(),
    ])
  }
}
