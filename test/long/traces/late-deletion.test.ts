import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { eventually } from '../../support/eventually.ts'
import { type FaultProxy, startFaultProxy } from '../../support/faults/proxies/fault.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { startTestClickHouse, temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const reason = withoutPostgres()
/** Longer than the time after which a deletion looks for late data again, in milliseconds. */
const OVER_MS = 12_000

describe.skipIf(reason !== '')(`two servers on one Postgres and one ClickHouse${reason}`, () => {
  let dir: Awaited<ReturnType<typeof temporaryDir>>
  let engine: Awaited<ReturnType<typeof startTestClickHouse>>
  let proxy: FaultProxy
  let near: WeirProcess
  /** This server reaches its ClickHouse through the proxy. */
  let far: WeirProcess
  beforeAll(async () => {
    dir = await temporaryDir()
    engine = await startTestClickHouse(join(dir.dir, 'engine'))
    proxy = await startFaultProxy({ target: engine.url })
    const DATABASE_URL = await postgresDatabases().take()
    const BLOB_URL = pathToFileURL(join(dir.dir, 'blobs')).href
    const start = async (name: string, url: string): Promise<WeirProcess> => {
      await mkdir(join(dir.dir, name))
      const CLICKHOUSE_URL = `${url}/weir`.replace('//', `//${engine.username}:${engine.password}@`)
      return await startWeir(join(dir.dir, name), { DATABASE_URL, CLICKHOUSE_URL, BLOB_URL })
    }
    near = await start('near', engine.url.replace(/\/$/, ''))
    far = await start('far', proxy.url.replace(/\/$/, ''))
  })
  afterAll(async () => {
    await Promise.all([near?.kill(), far?.kill()])
    await proxy?.close()
    await engine?.stop()
    await dir?.remove()
  })

  const runOf = (id: string, trace_id: string, order: string) => ({
    id,
    trace_id,
    dotted_order: order,
    ...(id !== trace_id && { parent_run_id: trace_id }),
    name: 'r',
    run_type: 'chain',
    session_name: 'p',
    start_time: '2026-11-20T09:00:00.000Z',
  })
  const send = (server: WeirProcess, run: object): Promise<Response> =>
    server.fetch('/api/v1/runs', jsonBody('POST', run))
  const statusOf = async (id: string): Promise<number> => (await near.fetch(`/api/v1/runs/${id}`)).status
  /**
   * Deletes a trace. The request is repeated while it is refused, because the rows of the other server become visible
   * one table after the other.
   */
  async function erase(id: string): Promise<SchemaTypes['deletion-job']> {
    let answer: Response | undefined
    await eventually(async () => {
      answer = await near.fetch(`/api/v1/traces/${id}`, { method: 'DELETE' })
      expect(answer.status).toBe(202)
    })
    return (await answer!.json()) as SchemaTypes['deletion-job']
  }
  const isDone = async ({ job_id }: SchemaTypes['deletion-job']): Promise<void> => {
    const read = await near.json<SchemaTypes['deletion-job']>(`/api/v1/runs/delete/${job_id}`)
    expect(read).toMatchObject({ status: 'done', error: null })
  }

  it('a trace that one of them deletes is refused by the other, and gone there', async () => {
    const id = newUuid()
    const root = runOf(id, id, `20261120T090000000000Z${id}`)
    expect((await send(far, root)).status).toBe(202)
    await eventually(async () => expect(await statusOf(id)).toBe(200))
    await erase(id)
    await eventually(async () => expect(await statusOf(id)).toBe(404))
    await eventually(async () => expect((await send(far, root)).status).toBe(409))
    // Traces that the server accepted in the second before it read the deletion are deleted, too.
    await eventually(async () => expect((await far.fetch(`/api/v1/runs/${id}`)).status).toBe(404))
  })

  it('what one of them accepted before the deletion and stores long after it is deleted too', async () => {
    const [id, child, other] = [newUuid(), newUuid(), newUuid()]
    const order = `20261120T090000000000Z${id}`
    expect((await send(near, runOf(id, id, order))).status).toBe(202)
    await eventually(async () => expect(await statusOf(id)).toBe(200))
    await proxy.set({ kind: 'refuse' })
    expect((await send(far, runOf(child, id, `${order}.20261120T090000000000Z${child}`))).status).toBe(202)
    expect((await send(far, runOf(other, other, `20261120T090000000000Z${other}`))).status).toBe(202)
    const asked = Date.now()
    const job = await erase(id)
    await eventually(() => isDone(job))
    await eventually(async () => expect(Date.now() - asked).toBeGreaterThan(OVER_MS))
    await proxy.set({ kind: 'pass' })
    await far.drained()
    await eventually(async () => expect(await statusOf(other)).toBe(200))
    await eventually(async () => expect([await statusOf(child), await statusOf(id)]).toEqual([404, 404]))
    await eventually(async () => {
      const query = jsonBody('POST', { trace: id })
      expect(await near.json('/api/v1/runs/query', query)).toMatchObject({ runs: [] })
    })
  })
})
