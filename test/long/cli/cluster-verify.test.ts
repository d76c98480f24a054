import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../../support/campaign.ts'
import { fixedPort } from '../../support/fixed-port.ts'
import { KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { type EmbeddedClickHouse } from '../../../src/storage/clickhouse/embedded/start.ts'
import { startTestClickHouse, temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'

// Two servers start, one of them twice.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const REASON = withoutPostgres()

describe.skipIf(REASON !== '')(`weir cluster verify${REASON}`, () => {
  const databases = postgresDatabases()
  let folder: Awaited<ReturnType<typeof temporaryDir>>
  let engine: EmbeddedClickHouse
  let database: string
  let port: string
  let servers: WeirProcess[] = []

  beforeAll(async () => {
    folder = await temporaryDir()
    engine = await startTestClickHouse(join(folder.dir, 'engine'))
    database = await databases.take()
    port = String(await fixedPort())
    servers = [await start('one'), await start('two', { PORT: port })]
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await engine?.stop()
    databases.giveBack(database)
    await folder?.remove()
  })

  const start = (name: string, env: Record<string, string> = {}): Promise<WeirProcess> => {
    const { url, username, password } = engine
    return startWeir(join(folder.dir, name), {
      DATABASE_URL: database,
      CLICKHOUSE_URL: `${url.replace('//', `//${username}:${password}@`)}/weir`,
      BLOB_URL: pathToFileURL(join(folder.dir, 'blobs')).href,
      ...env,
    })
  }

  it('a cluster of which a server is killed and started again while traces are sent holds', async () => {
    const [one, two] = servers as [WeirProcess, WeirProcess]
    const args = [one, two].flatMap(({ url }) => ['--server', url])
    const command = spawn(
      process.execPath,
      [MAIN, 'cluster', 'verify', ...args, '--rate', '10', '--seconds', '20', '--json'],
      { env: { PATH: process.env['PATH'], WEIR_API_KEY: KEY }, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const [out, ended] = [text(command.stdout), new Promise((resolve) => command.once('close', resolve))]
    await new Promise<void>((resolve) => {
      command.stderr.on('data', (line: Buffer) => {
        if (/ [1-9]\d* of 200 traces/.test(line.toString())) resolve()
      })
    })
    await two.kill()
    servers[1] = await start('two', { PORT: port })
    const [code, checks] = [
      await ended,
      JSON.parse(await out) as { name: string; detail: string; passed: boolean }[],
    ]
    expect(checks.filter(({ passed }) => !passed)).toEqual([])
    expect(code).toBe(0)
    expect(checks.find(({ name }) => name === 'sent')?.detail).toMatch(/; [1-9]\d* requests were sent again/)
  })
})
