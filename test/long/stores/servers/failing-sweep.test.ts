import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openSqlite } from '../../../../src/storage/sql/driver/sqlite.ts'
import { LONG_MS } from '../../../support/campaign.ts'
import { eventually } from '../../../support/eventually.ts'
import { startWeir } from '../../../support/servers/weir-process.ts'
import { temporaryDir } from '../../../support/stores/clickhouse/embedded-clickhouse.ts'

// Sweeps run every ten seconds, and health reports the third failure in a row.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const BEATS = fileURLToPath(new URL('../../../fixtures/run-graphs/beats.mjs:graph', import.meta.url))

it('health reports a sweep that fails three times in a row, until it succeeds', async () => {
  const { dir, remove } = await temporaryDir()
  const graphs = join(dir, 'langgraph.json')
  await writeFile(graphs, JSON.stringify({ graphs: { beats: BEATS } }))
  const weir = await startWeir(join(dir, 'data'), { GRAPHS: graphs })
  const database = openSqlite(join(dir, 'data', 'runs.db'))
  onTestFinished(async () => {
    await database.close()
    await weir.kill()
    await remove()
  })
  const sweeps = async (): Promise<{ code: string; detail: string } | undefined> => {
    const answer = await (await weir.fetch('/ok?check_db=1')).json()
    return (answer as { problems?: { sweeps?: { code: string; detail: string } } }).problems?.sweeps
  }
  const failures = async (): Promise<number> => {
    const metrics = await (await weir.fetch('/metrics')).text()
    return Number(/^weir_sweep_failures_total\{sweep="items"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
  }
  await database.query('ALTER TABLE store_items RENAME TO store_items_away')
  await eventually(async () => expect(await failures()).toBe(1))
  expect(await sweeps()).toBeUndefined()
  await eventually(async () =>
    expect(await sweeps()).toEqual({
      code: 'sweep_failing',
      detail: expect.stringContaining('items failed 3 times'),
    }),
  )
  expect(await failures()).toBeGreaterThanOrEqual(3)
  await database.query('ALTER TABLE store_items_away RENAME TO store_items')
  await eventually(async () => expect(await sweeps()).toBeUndefined())
})
