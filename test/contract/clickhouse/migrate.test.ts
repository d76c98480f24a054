import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import type { ClickHouse, StatementOptions } from '../../../src/storage/clickhouse/connect.ts'
import { migrate } from '../../../src/storage/clickhouse/migrate.ts'
import { newDatabase } from '../../support/stores/clickhouse/clickhouse-database.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { inLong } from '../../support/length.ts'

const logger = createLogger({ level: 'silent' })
const FIRST = `-- one
CREATE TABLE IF NOT EXISTS a (n UInt32 COMMENT 'x; y') ENGINE = MergeTree ORDER BY n;

CREATE TABLE IF NOT EXISTS b (n UInt32) ENGINE = MergeTree ORDER BY n;
-- the end
`
const SECOND = 'ALTER TABLE a ADD COLUMN IF NOT EXISTS m String;\n'

let db: ClickHouse
let dir: string
let drop: () => Promise<void>
let remove: () => Promise<void>

beforeEach(async () => {
  ;({ db, drop } = await newDatabase())
  ;({ dir, remove } = await temporaryDir())
  await writeFile(join(dir, '0001_first.sql'), FIRST)
})

afterEach(async () => {
  await drop()
  await remove()
})

describe('ClickHouse migrations', () => {
  it('are applied once, in order, each file unchanged', async () => {
    expect(await migrate(db, { dir, logger })).toEqual([1])
    expect(await migrate(db, { dir, logger })).toEqual([])
    await writeFile(join(dir, '0002_second.sql'), SECOND)
    expect(await migrate(db, { dir, logger })).toEqual([2])
    expect(await db.rows('SELECT n, m FROM a')).toEqual([])
    expect(await db.rows('SELECT version, name FROM schema_migrations FINAL ORDER BY version')).toEqual([
      { version: 1, name: 'first' },
      { version: 2, name: 'second' },
    ])
  })

  inLong(() => {
    it('continue after a failure in the middle of a file', async () => {
      await writeFile(join(dir, '0002_second.sql'), `${SECOND}CREATE TABLE IF NOT EXISTS c (oops;\n`)
      await expect(migrate(db, { dir, logger })).rejects.toMatchObject({ code: 'internal' })
      await writeFile(join(dir, '0002_second.sql'), SECOND)
      expect(await migrate(db, { dir, logger })).toEqual([2])
    })
  })

  it('begin to build indexes after the last change, and are recorded after that', async () => {
    await migrate(db, { dir, logger })
    await writeFile(join(dir, '0002_second.sql'), SECOND)
    await writeFile(
      join(dir, '0003_third.sql'),
      `ALTER TABLE a ADD INDEX IF NOT EXISTS by_m m TYPE minmax;\n\n-- why\nALTER TABLE a MATERIALIZE INDEX by_m;\n`,
    )
    await writeFile(join(dir, '0004_fourth.sql'), 'ALTER TABLE a ADD COLUMN IF NOT EXISTS o String AFTER;\n')
    await expect(migrate(db, { dir, logger })).rejects.toMatchObject({ code: 'internal' })
    await writeFile(join(dir, '0004_fourth.sql'), 'ALTER TABLE a ADD COLUMN IF NOT EXISTS o String;\n')
    const commands: string[] = []
    const watched = { ...db, command: (sql: string) => (commands.push(sql), db.command(sql)) }
    expect(await migrate(watched, { dir, logger })).toEqual([3, 4])
    expect(commands.slice(-2)).toEqual([
      expect.stringContaining('ADD COLUMN IF NOT EXISTS o'),
      expect.stringContaining('MATERIALIZE INDEX by_m'),
    ])
  })

  it('wait before a change that ClickHouse makes after its builds of the same table', async () => {
    await migrate(db, { dir, logger })
    await writeFile(
      join(dir, '0002_second.sql'),
      `${SECOND}ALTER TABLE a DROP INDEX IF EXISTS by_m;\nALTER TABLE b ADD COLUMN IF NOT EXISTS m String;\n`,
    )
    const builds = [2, 1, 0]
    const leftAt: [string, number][] = []
    const busy: ClickHouse = {
      ...db,
      rows: async <Row>(sql: string, options?: StatementOptions) =>
        sql.includes('system.mutations')
          ? [{ left: builds.shift() } as Row]
          : await db.rows<Row>(sql, options),
      async command(sql) {
        leftAt.push([sql.slice(0, 'ALTER TABLE a DROP'.length), builds.length])
        await db.command(sql)
      },
    }
    expect(await migrate(busy, { dir, logger })).toEqual([2])
    expect(leftAt.filter(([sql]) => sql.startsWith('ALTER'))).toEqual([
      ['ALTER TABLE a ADD ', 3],
      ['ALTER TABLE a DROP', 0],
      ['ALTER TABLE b ADD ', 0],
    ])
  })

  it('refuse an applied file that has changed, a newer database, and a file with a lower number', async () => {
    await writeFile(join(dir, '0003_third.sql'), SECOND)
    await migrate(db, { dir, logger })
    const refused = (words: string) => ({ code: 'config_invalid', message: expect.stringContaining(words) })
    await writeFile(join(dir, '0002_second.sql'), SECOND)
    await expect(migrate(db, { dir, logger })).rejects.toMatchObject(refused('renumber'))
    await writeFile(join(dir, '0001_first.sql'), `${FIRST}\n`)
    await expect(migrate(db, { dir, logger })).rejects.toMatchObject(refused('0001_first has changed'))
    const empty = join(dir, 'empty')
    await mkdir(empty)
    await expect(migrate(db, { dir: empty, logger })).rejects.toMatchObject(refused('does not know'))
    await writeFile(join(empty, 'first.sql'), FIRST)
    await expect(migrate(db, { dir: empty, logger })).rejects.toMatchObject(refused('NNNN_name.sql'))
  })

  it('those of Weir can be applied to an empty database, twice, and take one line of the log', async () => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const applied = await migrate(db, { logger: createLogger({ destination }) })
    expect(applied.length).toBeGreaterThan(0)
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'info', version: applied.at(-1), applied: applied.length },
    ])
    expect(await migrate(db, { logger })).toEqual([])
    // The state after a crash before the migrations of a new database were recorded.
    await db.command('TRUNCATE TABLE schema_migrations')
    expect(await migrate(db, { logger })).toEqual(applied)
  })
})
