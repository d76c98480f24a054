import { randomUUID } from 'node:crypto'
import { cp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { useFolder } from '../../support/folder.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))

describe('a data directory that has changed', () => {
  let dataDir: string
  let run: string

  async function start(...args: string[]): Promise<WeirProcess> {
    return await startWeir(dataDir, { GRAPHS, DEPLOYMENT_NAME: 'fixtures' }, args)
  }

  useFolder(async (made) => {
    dataDir = made
    run = randomUUID()
    const weir = await start()
    const sent = await weir.fetch('/runs', jsonBody('POST', { id: run, name: 'kept', run_type: 'chain' }))
    expect(sent.status).toBe(202)
    await weir.drained()
    expect(await weir.stop()).toBe(0)
  })

  it.each(['clickhouse', 'weir.db', 'runs.db', 'blobs', 'ingest-log'])(
    'a start on a data directory without its %s fails with a message',
    async (name) => {
      const [path, aside] = [join(dataDir, name), join(dataDir, `${name}.aside`)]
      await rename(path, aside)
      await expect(start()).rejects.toThrow(new RegExp(`${name} is empty.*--accept-empty-store`))
      // The failed start has not created files that would make the next start succeed.
      if (name === 'clickhouse') await expect(start()).rejects.toThrow(/--accept-empty-store/)
      await rm(path, { recursive: true, force: true })
      await rename(aside, path)
    },
  )

  it.each(['weir.db', 'runs.db'])(
    'a start on a damaged %s names the file and how to restore it',
    async (name) => {
      const path = join(dataDir, name)
      await rename(path, `${path}.aside`)
      await writeFile(path, 'this is no database, although it is long enough to be one'.repeat(100))
      try {
        await expect(start()).rejects.toThrow(new RegExp(`${name} is damaged.*backup`))
      } finally {
        await rename(`${path}.aside`, path)
      }
    },
  )

  it('these failed starts have changed nothing', async () => {
    const weir = await start()
    expect((await weir.fetch(`/api/v1/runs/${run}`)).status).toBe(200)
    expect(await weir.json('/ok?check_db=1')).toMatchObject({ ok: true })
    expect(await weir.stop()).toBe(0)
  })

  it('files are readable by their owner only, also in a folder that others may read', async () => {
    for (const name of ['weir.db', 'runs.db', 'installation', 'instance-id', 'ingest-log', 'server.json'])
      expect([name, ((await stat(join(dataDir, name))).mode & 0o077).toString(8)]).toEqual([name, '0'])
  })

  it('a start with --accept-empty-store succeeds, and so do later ones without it', async () => {
    await cp(join(dataDir, 'clickhouse'), join(dataDir, 'clickhouse.aside'), { recursive: true })
    await rm(join(dataDir, 'clickhouse'), { recursive: true })
    for (const args of [['--accept-empty-store'], []]) {
      const weir = await start(...args)
      expect((await weir.fetch(`/api/v1/runs/${run}`)).status).toBe(404)
      expect(await weir.stop()).toBe(0)
    }
  })
})
