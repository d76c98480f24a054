import { existsSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createLogger } from '../../../../src/base/log.ts'
import { openClickHouse } from '../../../../src/storage/clickhouse/open.ts'
import { temporaryDir } from './embedded-clickhouse.ts'
import { shared } from '../../servers/shared.ts'

/** A data folder that a first start of a server has prepared: it has all tables of the embedded ClickHouse. */
export async function makeFirstClickHouse(): Promise<{ dir: string; stop: () => Promise<void> }> {
  const { dir, remove } = await temporaryDir()
  const { stop } = await openClickHouse({
    url: undefined,
    dataDir: dir,
    logger: createLogger({ level: 'silent' }),
  })
  await stop()
  return { dir, stop: remove }
}

/**
 * Copies the empty tables of the embedded ClickHouse into the data folder of a new server. The server's start then
 * needs a quarter less CPU. A folder that is not new is not changed.
 */
export async function addFirstClickHouse(
  dataDir: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  // Only test files have shared servers. Scripts of bench/ have none, and neither has the process that shares them.
  if (process.env['VITEST_POOL_ID'] === undefined || env['CLICKHOUSE_URL'] !== undefined) return
  // The disk of this test loses data that was not synced, and no server would have synced the copies.
  if (env['FORGETFUL_ROOT'] !== undefined) return
  if (['clickhouse', 'installation'].some((name) => existsSync(join(dataDir, name)))) return
  const { dir } = await shared('/first-clickhouse')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await cp(join(dir, 'clickhouse'), join(dataDir, 'clickhouse'), { recursive: true, verbatimSymlinks: true })
}
