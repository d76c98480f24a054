import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { type PostgresCluster, startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for an empty database of the Postgres that all files share. */
    postgres: string
  }
}

/** Before all test files: a Postgres for those that need one and do not end it, started when the first one asks. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let cluster: Promise<PostgresCluster> | undefined
  const server = createServer((_request, response) => {
    cluster ??= startPostgres()
    cluster
      .then((started) => started.createDatabase())
      .then(
        (url) => response.end(url),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  project.provide('postgres', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    await (await cluster?.catch(() => undefined))?.stop()
  }
}
