import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  type Laid,
  LAYOUT_SETTINGS,
  schemaStatements,
  statementOn,
} from '../../src/storage/clickhouse/cluster/layout.ts'
import { splitStatements } from '../../src/storage/clickhouse/migrate.ts'

const MIGRATIONS = new URL('../../src/storage/clickhouse/migrations/', import.meta.url)
const GOLDEN = new URL('cluster/', import.meta.url)
const CLUSTER = 'weir_cluster'
const laid = (layout: Laid['layout']): Laid => ({ layout, database: 'weir' })
const REPLICAS = laid({ kind: 'replicas', cluster: CLUSTER })
const SHARDS = laid({ kind: 'shards', cluster: CLUSTER })

async function expectGolden(name: string, text: string): Promise<void> {
  const file = new URL(name, GOLDEN)
  if (process.env['UPDATE_GOLDEN'] === '1') {
    await mkdir(new URL('.', file), { recursive: true })
    await writeFile(file, text)
  }
  expect(text).toBe(await readFile(file, 'utf8'))
}

describe('the statements of each kind of ClickHouse', async () => {
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql'))
  const statementsOf = async (file: string): Promise<string[]> =>
    splitStatements(await readFile(new URL(file, MIGRATIONS), 'utf8'))
  const textOf = (statements: readonly string[]): string => statements.map((one) => `${one};\n`).join('\n')

  it.each(files)('single, cloud: %s as it is', async (file) => {
    for (const statement of await statementsOf(file)) {
      expect(schemaStatements(statement, laid({ kind: 'single' }))).toEqual([statement])
      expect(schemaStatements(statement, laid({ kind: 'cloud' }))).toEqual([statement])
    }
  })

  it.each(files)('replicas: %s', async (file) => {
    const statements = await statementsOf(file)
    const text = textOf(statements.flatMap((statement) => schemaStatements(statement, REPLICAS)))
    expect(text).not.toMatch(/ENGINE = (?!Replicated)/)
    expect(text.match(/ ON CLUSTER `weir_cluster`/g)).toHaveLength(statements.length)
    await expectGolden(file, text)
  })

  it.each(files)('shards: %s', async (file) => {
    const statements = (await statementsOf(file)).flatMap((statement) => schemaStatements(statement, SHARDS))
    const text = textOf(statements)
    expect(text).not.toMatch(/ENGINE = (?!Replicated|Distributed)/)
    expect(text.match(/ ON CLUSTER `weir_cluster`/g)).toHaveLength(statements.length)
    expect(text).not.toMatch(/ (FROM|TO) \w+(?<!_local)\b/)
    await expectGolden(`shards/${file}`, text)
  })

  it.each(['single', 'cloud', 'replicas', 'shards'] as const)('settings of %s', async (kind) => {
    const name = kind === 'replicas' ? 'settings.json' : `${kind}/settings.json`
    await expectGolden(name, `${JSON.stringify(LAYOUT_SETTINGS[kind], null, 2)}\n`)
  })

  it('refuses other statements, unknown tables and invalid names', () => {
    expect(() => schemaStatements('INSERT INTO runs SELECT 1', REPLICAS)).toThrow(TypeError)
    expect(() => schemaStatements('CREATE TABLE news (a Int8) ENGINE = Log', SHARDS)).toThrow('SHARDED_BY')
    const wrong = laid({ kind: 'replicas', cluster: 'c` --' })
    expect(() => schemaStatements('ALTER TABLE runs DROP COLUMN a', wrong)).toThrow(RangeError)
  })
})

it.each([
  [
    "DELETE FROM fragments IN PARTITION (7, '2026-11-20') WHERE run_id = {id:UUID}",
    "DELETE FROM fragments_local ON CLUSTER `weir_cluster` IN PARTITION (7, '2026-11-20') WHERE run_id = {id:UUID}",
  ],
  ['DELETE FROM runs WHERE 1', 'DELETE FROM runs_local ON CLUSTER `weir_cluster` WHERE 1'],
  [
    "ALTER TABLE runs APPLY DELETED MASK IN PARTITION ID '1'",
    "ALTER TABLE runs_local ON CLUSTER `weir_cluster` APPLY DELETED MASK IN PARTITION ID '1'",
  ],
  ['OPTIMIZE TABLE runs FINAL', 'OPTIMIZE TABLE runs_local ON CLUSTER `weir_cluster` FINAL'],
  ['KILL MUTATION WHERE 1', 'KILL MUTATION ON CLUSTER `weir_cluster` WHERE 1'],
  ['INSERT INTO runs SELECT * FROM runs', 'INSERT INTO runs SELECT * FROM runs'],
  ['CREATE TABLE a_local ON CLUSTER `weir_cluster`', 'CREATE TABLE a_local ON CLUSTER `weir_cluster`'],
  [
    'SELECT 1 FROM runs WHERE a IN (SELECT b FROM runs) AND c NOT IN (\n SELECT 1) AND d IN (1, 2)',
    'SELECT 1 FROM runs WHERE a GLOBAL IN (SELECT b FROM runs) AND c GLOBAL NOT IN (\n SELECT 1) AND d IN (1, 2)',
  ],
])('a statement on shards: %s', (statement, expected) => {
  expect(statementOn(SHARDS.layout, statement)).toBe(expected)
  expect(statementOn(REPLICAS.layout, statement)).toBe(statement)
})

it('a deletion on shards cannot select its rows from a table, of which each shard has a part', () => {
  const statement = 'DELETE FROM runs WHERE run_id IN (SELECT run_id FROM feedback)'
  expect(() => statementOn(SHARDS.layout, statement)).toThrow('cannot select')
})
