import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { findServer } from '../../../src/start/server-address.ts'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import {
  countTraces,
  makeWorld,
  readWorld,
  sendTraces,
  type World,
  WORLD_ENV,
} from '../../support/backups/backed-up-world.ts'
import { eventually } from '../../support/eventually.ts'
import { runCommand } from '../../support/run-command.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { startTestClickHouse, temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startS3, type TestS3 } from '../../support/stores/s3.ts'

// Servers start, and their data is saved and restored.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const reason = withoutPostgres()
const ROUNDS = campaign(5, 2)

describe.skipIf(reason !== '')(`backups of servers${reason}`, () => {
  const umask = process.umask()
  let folder: Awaited<ReturnType<typeof temporaryDir>>
  let engine: Awaited<ReturnType<typeof startTestClickHouse>>
  let s3: TestS3
  const databases = postgresDatabases()
  const at = (name: string): string => join(folder.dir, name)

  beforeAll(async () => {
    folder = await temporaryDir()
    engine = await startTestClickHouse(at('engine'))
    s3 = await startS3()
  })
  afterAll(async () => {
    process.umask(umask)
    await s3?.stop()
    await engine?.stop()
    await folder?.remove()
  })

  /** Settings of a server on stores of its own, which are empty. */
  async function stores(name: string): Promise<Record<string, string>> {
    const { url, username, password } = engine
    const clickhouse = url.replace(/\/$/, '').replace('//', `//${username}:${password}@`)
    return {
      DATABASE_URL: await databases.take(),
      CLICKHOUSE_URL: `${clickhouse}/${name}`,
      BLOB_URL: s3.url(name),
    }
  }

  async function command(name: string, dir: string, env: Record<string, string>): Promise<void> {
    const { code, stderr } = await runCommand([name, dir], { env })
    expect([name, code], stderr).toEqual([name, 0])
  }

  async function expectEqual(
    dataDir: string,
    env: Record<string, string>,
    { world, before }: { world: World; before: unknown },
  ): Promise<void> {
    const server = await startWeir(dataDir, { ...env, ...WORLD_ENV })
    try {
      expect(await readWorld(server, world)).toEqual(before)
      const { counted, listed } = await countTraces(server)
      expect(counted).toBe(listed)
      expect(listed).toBeGreaterThanOrEqual(world.traces.length)
    } finally {
      await server.stop()
    }
  }

  it('go from Postgres, ClickHouse and S3 into others, into files, and back, while traces are sent', async () => {
    const env = await stores('first')
    await mkdir(at('first'))
    const weir = await startWeir(at('first'), { ...env, ...WORLD_ENV })
    const world = await makeWorld(weir, folder.dir)
    const before = await readWorld(weir, world)
    let isOver = false
    const sending = keepSending(weir, () => isOver)
    for (let round = 0; round < ROUNDS; round++)
      await command('backup', at(`backup-${round}`), { ...env, DATA_DIR: at('first') })
    isOver = true
    expect(await sending).toBeGreaterThan(0)
    await weir.stop()
    for (let round = 0; round < ROUNDS; round++) {
      const dataDir = at(`files-${round}`)
      await command('restore', at(`backup-${round}`), { DATA_DIR: dataDir })
      await expectEqual(dataDir, {}, { world, before })
    }
    await command('backup', at('of-files'), { DATA_DIR: at('files-0') })
    const others = await stores('second')
    await command('restore', at('of-files'), { ...others, DATA_DIR: at('second') })
    await expectEqual(at('second'), others, { world, before })
  })

  it('derive 15 minutes again where other servers have run lately, and two minutes where none has', async () => {
    const env = await stores('windows')
    for (const name of ['only', 'other']) await mkdir(at(name))
    const lateMs = async (name: string): Promise<number> => {
      await command('backup', at(name), { ...env, DATA_DIR: at('only') })
      const text = await readFile(join(at(name), 'manifest.json'), 'utf8')
      const { started_at, late_since } = JSON.parse(text) as SchemaTypes['backup-manifest']
      return Date.parse(started_at) - Date.parse(late_since ?? started_at)
    }
    const only = await startWeir(at('only'), env)
    // A server writes its address to DATA_DIR after it has begun to listen.
    await eventually(async () => expect(await findServer(at('only'))).toBeDefined())
    expect(await lateMs('of-one')).toBe(2 * 60_000)
    const other = await startWeir(at('other'), env)
    expect(await lateMs('of-two')).toBe(15 * 60_000)
    // What it had received and not stored is stored when it starts again.
    await other.kill()
    expect(await lateMs('of-a-killed-one')).toBe(15 * 60_000)
    await only.stop()
    expect(await lateMs('of-stopped-ones')).toBe(15 * 60_000)
  })
})

/** Sends traces until `isOver`; resolves with their number. */
async function keepSending(weir: WeirProcess, isOver: () => boolean): Promise<number> {
  let count = 0
  while (!isOver()) count += (await sendTraces(weir, 10)).length
  return count
}
