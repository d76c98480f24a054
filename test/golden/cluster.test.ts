import { readFile, readdir, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { splitStatements } from '../../src/storage/clickhouse/migrate.ts'
import { CLUSTER_SETTINGS, onCluster } from '../../src/storage/clickhouse/on-cluster.ts'

const MIGRATIONS = new URL('../../src/storage/clickhouse/migrations/', import.meta.url)
const GOLDEN = new URL('cluster/', import.meta.url)

async function expectGolden(name: string, text: string): Promise<void> {
  const file = new URL(name, GOLDEN)
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(file, text)
  expect(text).toBe(await readFile(file, 'utf8'))
}

describe('the statements of a cluster', async () => {
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql'))

  it.each(files)('%s', async (file) => {
    const statements = splitStatements(await readFile(new URL(file, MIGRATIONS), 'utf8'))
    const text = statements.map((statement) => `${onCluster(statement, 'weir_cluster')};\n`).join('\n')
    expect(text).not.toMatch(/ENGINE = (?!Replicated)/)
    expect(text.match(/ ON CLUSTER `weir_cluster`/g)).toHaveLength(statements.length)
    await expectGolden(file, text)
  })

  it('settings', () => expectGolden('settings.json', `${JSON.stringify(CLUSTER_SETTINGS, null, 2)}\n`))

  it('refuses other statements and invalid names', () => {
    expect(() => onCluster('INSERT INTO runs SELECT 1', 'c')).toThrow(TypeError)
    expect(() => onCluster('ALTER TABLE runs DROP COLUMN a', 'c` --')).toThrow(RangeError)
  })
})
