import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { switchUsage } from '../../../src/storage/sql/identity/usage-switches.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { startWeir } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Several servers start, each with a changed clock.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const DAY = 86_400_000
const iso = (time: number): string => new Date(time).toISOString()

describe('counting that was switched on by a clock ahead of ours', () => {
  it('USAGE-12: counts from the first request on', async () => {
    const today = Math.floor(Date.now() / DAY) * DAY
    const { dir, remove } = await temporaryDir()
    const dataDir = join(dir, 'data')
    await mkdir(dataDir)
    const database = openSqlite(join(dataDir, 'weir.db'))
    await migrate(database)
    await switchUsage(database, true, Date.now() + DAY / 2)
    await database.close()
    const weir = await startWeir(dataDir)
    try {
      const start_time = iso(Date.now())
      const post = [{ id: newUuid(), name: 'r', run_type: 'chain', start_time, inputs: {} }]
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ post, patch: [] })
      expect((await weir.fetch('/api/v1/runs/batch', { method: 'POST', headers, body })).status).toBe(202)
      await weir.drained()
      const [home] = await weir.json<{ id: string }[]>('/api/v1/workspaces')
      const query = String(
        new URLSearchParams({
          start_time: iso(today - DAY),
          end_time: iso(today + 2 * DAY),
          workspace_ids: home!.id,
          group_by: 'workspace',
        }),
      )
      const report = await weir.json<{ usage: { traces: number }[] }>(
        `/api/v1/orgs/current/billing/granular-usage?${query}`,
      )
      expect(report.usage.map(({ traces }) => traces)).toEqual([1])
    } finally {
      await weir.stop()
      await remove()
    }
  })
})
