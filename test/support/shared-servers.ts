import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startTestClickHouse, temporaryDir } from './embedded-clickhouse.ts'
import { startPostgres } from './postgres.ts'
import { type LentWeir, startWeirPool } from './weir-pool.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for a part of its own of the servers that all files share; see `shared`. */
    sharedServers: string
  }
}

/** What can be asked for, with the path as its name. */
export interface Shared {
  /** URL of an empty database. */
  '/postgres': { url: string }
  /** An engine; whoever uses it makes a database of a name that nobody else has. */
  '/clickhouse': { url: string; username: string; password: string }
  /** A server that no other file uses until it is given back, and an organization in which nothing has happened. */
  '/weir': LentWeir
  /** The same, with the organization that the deployment belongs to, in which other files have made runs. */
  '/weir/deployment': LentWeir
  /** Gives the server of the id back; fails when it has logged an error meanwhile. */
  '/weir/give-back': null
}

/** Starts it when it is first asked for. `stop` ends it, if it was. */
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

/** Before all test files: servers for those that need one and do not end it, started when the first one asks. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = onDemand(startPostgres, (cluster) => cluster.stop())
  const clickhouse = onDemand(startClickHouse, (one) => one.stop())
  const weirs = startWeirPool()
  const answers: { [Path in keyof Shared]: (id: string) => Promise<Shared[Path]> } = {
    '/postgres': async () => ({ url: await (await postgres.get()).createDatabase() }),
    '/clickhouse': async () => {
      const { url, username, password } = (await clickhouse.get()).engine
      return { url, username, password }
    },
    '/weir': () => weirs.lend('new organization'),
    '/weir/deployment': () => weirs.lend('deployment'),
    '/weir/give-back': async (id) => (await weirs.takeBack(id), null),
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    answers[pathname as keyof Shared](searchParams.get('id') ?? '').then(
      (answer) => response.end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  project.provide('sharedServers', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    await Promise.all([postgres.stop(), clickhouse.stop(), weirs.stop()])
  }
}
