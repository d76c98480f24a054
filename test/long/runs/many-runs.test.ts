import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { openPostgres } from '../../../src/storage/sql/driver/postgres.ts'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const REASON = withoutPostgres()
const INPUT = { messages: [{ role: 'user', content: 'hi' }], steps: 3, tokens: 5 }
const WAIT = '/deployments/fixtures/runs/wait'

/**
 * Starts servers on one Postgres, and the given number of runs on each of them at once. Resolves with the number of
 * runs that failed.
 */
async function runAtOnce({
  servers: count,
  runs,
  max_connections,
}: Record<'servers' | 'runs' | 'max_connections', number>): Promise<{ failed: string[]; most: number }> {
  const postgres = await startPostgres({ max_connections: String(max_connections) })
  const { dir, remove } = await temporaryDir()
  const servers: WeirProcess[] = []
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await postgres.stop()
    await remove()
  })
  const DATABASE_URL = await postgres.createDatabase()
  const BLOB_URL = pathToFileURL(join(dir, 'blobs')).href
  const env = { GRAPHS, DEPLOYMENT_NAME: 'fixtures', BLOB_URL, DATABASE_URL, RUN_TRACING: 'off' }
  for (let n = 0; n < count; n++) {
    await mkdir(join(dir, `${n}`))
    servers.push(await startWeir(join(dir, `${n}`), { ...env, RUN_CONCURRENCY: '100' }))
  }
  let most = 0
  const watch = openPostgres(DATABASE_URL, { connections: 1 })
  const timer = setInterval(() => {
    watch
      .query<{ n: number }>(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE backend_type = 'client backend'",
      )
      .then(([row]) => (most = Math.max(most, row?.n ?? 0)))
      .catch(() => undefined)
  }, 200)
  const failed: string[] = []
  const one = async (server: WeirProcess): Promise<void> => {
    const response = await server.fetch(WAIT, jsonBody('POST', { assistant_id: 'tokens', input: INPUT }))
    const text = await response.text()
    if (!response.ok || text.includes('__error__')) failed.push(`${response.status} ${text.slice(0, 200)}`)
  }
  await Promise.all(servers.flatMap((server) => Array.from({ length: runs }, () => one(server))))
  clearInterval(timer)
  await watch.close()
  return { failed, most }
}

describe.skipIf(REASON !== '')(`many runs at once on Postgres${REASON}`, () => {
  it('three servers end 1,000 within the 100 connections of a Postgres as it is installed', async () => {
    const { failed, most } = await runAtOnce({ servers: 3, runs: 334, max_connections: 100 })
    console.log(`three servers, 1,002 runs at once: ${most} connections at the most`)
    expect(failed).toEqual([])
    expect(most).toBeLessThanOrEqual(97)
  })

  it('two servers that may open more connections than Postgres accepts wait for them', async () => {
    const { failed } = await runAtOnce({ servers: 2, runs: 120, max_connections: 24 })
    expect(failed).toEqual([])
  })
})
