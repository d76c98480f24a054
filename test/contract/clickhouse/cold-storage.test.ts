import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { mkdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { createLogger } from '../../../src/base/log.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import { connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { DEFAULT_MEMORY, engineConfigXml } from '../../../src/storage/clickhouse/embedded/engine-config.ts'
import { type Engine, openEngine } from '../../../src/storage/clickhouse/embedded/engine.ts'
import { createEngineServer } from '../../../src/storage/clickhouse/embedded/http-server.ts'
import { openClickHouse } from '../../../src/storage/clickhouse/open.ts'
import { createTraceStore } from '../../../src/storage/clickhouse/trace-store.ts'
import { emptyFragment, RANK, readOutlines, writeFragment } from '../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'

const DAY = 86_400_000
const DAYS = 30
const PASSWORD = 'secret'
const logger = createLogger({ level: 'silent' })

const home = process.cwd()
let folder: Awaited<ReturnType<typeof temporaryDir>>
let engine: Engine
let server: Server
let place: { url: string; username: string; password: string }

/** The printed configuration with a folder in place of the bucket, and a policy whose first volume has another name. */
async function storageXml(cold: string): Promise<string> {
  const printed = await readFile(
    new URL('../../../deploy/cluster/clickhouse/cold-storage.xml', import.meta.url),
    'utf8',
  )
  const disk = /<type>s3[\s\S]*?(?=\s*<\/cold>)/
  expect(printed).toMatch(disk)
  const policy = /<tiered>[\s\S]*<\/tiered>/.exec(printed)![0]
  const renamed = policy.replaceAll('tiered>', 'renamed>').replaceAll(/<(\/?)default>/g, '<$1hot>')
  const [, own = ''] = /<clickhouse>([\s\S]*)<\/clickhouse>/.exec(printed) ?? []
  return own.replace(disk, `<path>${cold}/</path>`).replace('</policies>', `${renamed}</policies>`)
}

beforeAll(async () => {
  folder = await temporaryDir()
  const [data, work, cold] = ['data', 'work', 'cold'].map((name) => join(folder.dir, name)) as [
    string,
    string,
    string,
  ]
  for (const dir of [data, work, cold]) await mkdir(dir)
  // The engine reads the bodies of inserts from its working folder.
  process.chdir(work)
  const config = engineConfigXml(DEFAULT_MEMORY).replace(
    '</clickhouse>',
    `${await storageXml(cold)}</clickhouse>`,
  )
  engine = await openEngine(data, work, DEFAULT_MEMORY, config)
  server = createEngineServer({ engine, password: PASSWORD, workDir: work })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  place = { url: `http://127.0.0.1:${port}`, username: 'default', password: PASSWORD }
})
afterAll(async () => {
  server?.close()
  server?.closeAllConnections()
  await engine?.close()
  process.chdir(home)
  await folder?.remove()
})

const open = (database: string, policy: string | undefined) =>
  openClickHouse({
    url: `http://default:${PASSWORD}@${new URL(place.url).host}/${database}`,
    cold: policy === undefined ? undefined : { policy, days: DAYS },
    dataDir: '',
    logger,
  })

it('fragments older than the days move to the last volume of the policy, and are read from there', async () => {
  const first = await open('tiers', undefined)
  await first.ready
  const workspace_id = newUuid()
  const ages = [0, 20, 40, 400]
  const run_ids = ages.map(() => newUuid())
  const rows = new RowWriter()
  for (const [n, age] of ages.entries())
    writeFragment(rows, {
      ...emptyFragment(workspace_id, run_ids[n]!, RANK.create, Date.now() - age * DAY),
      inputs: Buffer.from(`"of ${age} days"`),
    })
  await createTraceStore(first.connection, STORED_COLUMNS).insert('fragments', [rows.finish()])
  await first.stop()

  const opened = await open('tiers', 'tiered')
  await opened.ready
  const disks = (): Promise<unknown[]> =>
    opened.connection.rows(
      `SELECT disk_name AS disk, toUInt32(sum(rows)) AS rows FROM system.parts
       WHERE database = 'tiers' AND table = 'fragments' AND active GROUP BY 1 ORDER BY 1`,
    )
  await eventually(async () =>
    expect(await disks()).toEqual([
      { disk: 'cold', rows: 2 },
      { disk: 'default', rows: 2 },
    ]),
  )
  const found = [
    ...readOutlines(
      await createTraceStore(opened.connection, STORED_COLUMNS).outlines(workspace_id, run_ids),
    ),
  ]
  expect(found.map(({ run_id }) => run_id).sort()).toEqual([...run_ids].sort())
  await opened.stop()

  const mutations = async (): Promise<unknown> => {
    const db = connectClickHouse({ ...place, database: 'tiers' })
    const [count] = await db.rows(
      "SELECT count() AS n FROM system.mutations WHERE database = 'tiers' AND table = 'fragments'",
    )
    await db.close()
    return count
  }
  const done = await mutations()
  const again = await open('tiers', 'tiered')
  await again.ready
  expect(await mutations()).toEqual(done)
  await again.stop()
})

it.each([
  ['unknown', 'the server has no such policy'],
  ['default', 'it has no volume besides "default"'],
])('a policy that cannot be used (%s) is refused at the start', async (policy, reason) => {
  const opened = await open('refused', policy)
  await expect(opened.ready).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(
      `CLICKHOUSE_STORAGE_POLICY is "${policy}", which cannot be used: ${reason}`,
    ),
  })
  await opened.stop()
})

it('a policy without the volume of the present one is named, and nothing waits for it silently', async () => {
  const opened = await open('renamed', 'renamed')
  await eventually(async () =>
    expect(opened.failure()?.message).toMatch(/"renamed", which cannot be used: .*volume/),
  )
  await opened.stop()
})
