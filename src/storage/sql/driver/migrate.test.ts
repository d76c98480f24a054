import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import { openSqlite } from './sqlite.ts'
import { newFolder } from '../../../../test/support/folder.ts'

let dir: string
let url: URL
let database: Database
beforeEach(async () => {
  dir = await newFolder()
  url = pathToFileURL(`${dir}/`)
  database = openSqlite(':memory:')
})

const file = (name: string, text: string): Promise<void> => writeFile(join(dir, name), text)

describe('migrate', () => {
  it('runs each file once, in order', async () => {
    await file('0001_a.sql', 'CREATE TABLE a (n INTEGER);\nINSERT INTO a VALUES (1);\n')
    expect(await migrate(database, url)).toBe(1)
    await file('0002_b.sql', '-- one more\nINSERT INTO a VALUES (2)')
    expect([await migrate(database, url), await migrate(database, url)]).toEqual([1, 0])
    expect(await database.query('SELECT n FROM a')).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('leaves no change of a failed file', async () => {
    await file('0001_a.sql', 'CREATE TABLE a (n INTEGER);\nnonsense;\n')
    await expect(migrate(database, url)).rejects.toThrow('syntax error')
    await file('0001_a.sql', 'CREATE TABLE a (n INTEGER);\n')
    expect(await migrate(database, url)).toBe(1)
  })

  it('refuses a migration that was changed, a database that is newer, and a gap in the numbers', async () => {
    await file('0001_a.sql', 'CREATE TABLE a (n INTEGER);\n')
    await file('0002_b.sql', 'CREATE TABLE b (n INTEGER);\n')
    await migrate(database, url)
    await file('0001_a.sql', 'CREATE TABLE a (n TEXT);\n')
    await expect(migrate(database, url)).rejects.toThrow('migration 1 (a) was changed')
    await file('0001_a.sql', 'CREATE TABLE a (n INTEGER);\n')
    await rm(join(dir, '0002_b.sql'))
    await expect(migrate(database, url)).rejects.toThrow('version 2, newer than this program')
    await file('0003_c.sql', 'SELECT 1;\n')
    await expect(migrate(database, url)).rejects.toThrow('0003_c.sql')
  })

  it('migrates an empty database to the newest version', async () => {
    expect(await migrate(database)).toBeGreaterThanOrEqual(2)
    expect(await migrate(database)).toBe(0)
  })
})
