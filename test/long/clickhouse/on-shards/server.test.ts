import { expect, it, onTestFinished } from 'vitest'
import { newFolder } from '../../../support/folder.ts'
import { KEY, startWeir } from '../../../support/servers/weir-process.ts'
import { startTwoShards } from '../../../support/stores/clickhouse/two-shards/start-two-shards.ts'
import { TWO_SHARDS } from '../../../support/stores/clickhouse/two-shards/two-shards.ts'
import { runCommand } from '../../../support/run-command.ts'

it('a server on two shards lists, counts and deletes what it is sent, and keeps to their number', async () => {
  const engine = await startTwoShards(await newFolder())
  onTestFinished(() => engine.stop())
  const { host } = new URL(engine.url)
  const place = {
    DATA_DIR: await newFolder(),
    CLICKHOUSE_URL: `http://${engine.username}:${engine.password}@${host}/weir`,
  }
  const sharded = { ...place, CLICKHOUSE_CLUSTER: TWO_SHARDS.cluster, CLICKHOUSE_KIND: 'shards' }
  const weir = await startWeir(place.DATA_DIR, sharded)
  const args = ['cluster', 'verify', '--server', weir.url, '--seconds', '5', '--json']
  const { code, stdout } = await runCommand(args, { env: { WEIR_API_KEY: KEY } })
  const checks = JSON.parse(stdout) as { name: string; passed: boolean; detail: string }[]
  expect(checks.filter(({ passed }) => !passed)).toEqual([])
  expect(checks[0]?.detail).toContain('ClickHouse shards')
  expect(code).toBe(0)
  expect(await weir.stop()).toBe(0)
  const wrong = startWeir(place.DATA_DIR, place)
  await expect(wrong).rejects.toThrow('were made for another kind (Distributed)')
  // Two starts, and tables of shards.
}, 180_000)
