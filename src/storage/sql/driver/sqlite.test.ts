import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toStartError } from '../../../start/data-dir.ts'
import { openSqlite } from './sqlite.ts'
import { newFolder } from '../../../../test/support/folder.ts'

async function openWithTable() {
  const database = openSqlite(':memory:')
  await database.query('CREATE TABLE t (n INTEGER PRIMARY KEY)')
  const numbers = async () =>
    (await database.query<{ n: number }>('SELECT n FROM t ORDER BY n')).map(({ n }) => n)
  return { database, numbers }
}

describe('openSqlite', () => {
  it('stores data in a file of its owner only, in WAL mode', async () => {
    const dir = await newFolder()
    const file = join(dir, 'weir.db')
    const first = openSqlite(file, { synchronous: 'full' })
    await first.query('CREATE TABLE t (a TEXT, b INTEGER)')
    await first.query('INSERT INTO t VALUES (?, ?)', ['x', null])
    expect(await first.query('PRAGMA journal_mode')).toMatchObject([{ journal_mode: 'wal' }])
    expect(await first.query('PRAGMA synchronous')).toMatchObject([{ synchronous: 2 }])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await first.close()
    const second = openSqlite(file)
    expect(await second.query('SELECT a, b FROM t')).toEqual([{ a: 'x', b: null }])
    await second.close()
  })
})

describe('many statements, one after the other', () => {
  it('let other work of the thread go on', async () => {
    const database = openSqlite(':memory:')
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    for (let i = 0; i < 200_000 && turns <= 3; i += 1) await database.query('SELECT 1')
    clearInterval(timer)
    await database.close()
    expect(turns).toBeGreaterThan(3)
  })
})

describe('a damaged file', () => {
  it('is named to operators, and described to clients only as a database of this server', async () => {
    const dir = await newFolder()
    const file = join(dir, 'weir.db')
    await writeFile(file, 'this is no database, although it is long enough to be one'.repeat(100))
    const error = await (async () => openSqlite(file))().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'data_dir_unusable',
      message: "A database of this server is damaged. The server's log names the file and how to restore it.",
      cause: { message: expect.stringContaining(`${file} is damaged (`) },
    })
    expect(toStartError(error, dir)).toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining(`${file} is damaged (`),
    })
  })
})

describe('a full disk', () => {
  it('is reported as disk_full, and the transaction is rolled back', async () => {
    const { database, numbers } = await openWithTable()
    await database.query('CREATE TABLE big (text TEXT)')
    await database.query('PRAGMA max_page_count = 20')
    const writing = database.tx('t', async (session) => {
      await session.query('INSERT INTO t VALUES (1)')
      await session.query('INSERT INTO big VALUES (?)', ['x'.repeat(200_000)])
    })
    await expect(writing).rejects.toMatchObject({ code: 'disk_full', status: 503, retryable: true })
    expect(await numbers()).toEqual([])
    await database.query('INSERT INTO t VALUES (2)')
    expect(await numbers()).toEqual([2])
  })
})

describe('tx', () => {
  it('commits all statements or none', async () => {
    const { database, numbers } = await openWithTable()
    const result = await database.tx('t', async (session) => {
      await session.query('INSERT INTO t VALUES (1)')
      return 'done'
    })
    expect(result).toBe('done')
    const failing = database.tx('t', async (session) => {
      await session.query('INSERT INTO t VALUES (2)')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    const conflicting = database.tx('t', async (session) => {
      await session.query('INSERT INTO t VALUES (3)')
      await session.query('INSERT INTO t VALUES (1)')
    })
    await expect(conflicting).rejects.toMatchObject({ code: 'conflict' })
    expect(await numbers()).toEqual([1])
  })

  it('keeps other statements and transactions waiting until it ends, in their order', async () => {
    const { database, numbers } = await openWithTable()
    const gate = Promise.withResolvers<void>()
    const first = database.tx('t', async (session) => {
      await session.query('INSERT INTO t VALUES (1)')
      await gate.promise
      await session.query('DELETE FROM t')
      await session.query('INSERT INTO t VALUES (10)')
    })
    const second = database.tx('t', async (session) => {
      const rows = await session.query<{ n: number }>('SELECT max(n) AS n FROM t')
      await session.query('INSERT INTO t VALUES (?)', [(rows[0]?.n ?? 0) + 1])
    })
    const outside = numbers()
    gate.resolve()
    await Promise.all([first, second])
    expect(await outside).toEqual([10, 11])
  })

  it('waits for a writer on another connection without blocking the thread', async () => {
    const dir = await newFolder()
    const [one, other] = [openSqlite(join(dir, 'weir.db')), openSqlite(join(dir, 'weir.db'))]
    await one.query('CREATE TABLE t (n INTEGER PRIMARY KEY)')
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const first = one.tx('t', async (session) => {
      await session.query('INSERT INTO t VALUES (1)')
      begun.resolve()
      await gate.promise
    })
    await begun.promise
    const second = other.tx('t', (session) => session.query('INSERT INTO t VALUES (2)'))
    const third = other.query('INSERT INTO t VALUES (3)')
    // The first transaction blocks the others. It ends when the event loop has turned and the retry timers of the
    // others have run.
    setTimeout(() => gate.resolve(), 1)
    await Promise.all([first, second, third])
    expect(await one.query('SELECT n FROM t ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    await Promise.all([one.close(), other.close()])
  })
})
