import { expect, it } from 'vitest'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const NUMBERS = 'SELECT n FROM t ORDER BY n'

describeOnSql('a database', (engine) => {
  const openWithTable = async () => {
    const database = await engine.open()
    await database.query('CREATE TABLE t (n BIGINT PRIMARY KEY, s TEXT)')
    const numbers = async () => (await database.query<{ n: number }>(NUMBERS)).map(({ n }) => n)
    return { database, numbers }
  }

  it('returns values unchanged: big numbers, null, any text but NUL and unpaired surrogates', async () => {
    const { database } = await openWithTable()
    const texts = ['', ' ', "quote ' ? --", 'é 🙂', 'a\0b', '\ud800', null]
    for (const [i, text] of texts.entries()) {
      await database.query('INSERT INTO t (n, s) VALUES (?, ?)', [Number.MAX_SAFE_INTEGER - i, text])
    }
    const rows = await database.query('SELECT n, s FROM t ORDER BY n DESC')
    const kept = ['', ' ', "quote ' ? --", 'é 🙂', 'a\ufffdb', '\ufffd', null]
    expect(rows).toEqual(kept.map((s, i) => ({ n: Number.MAX_SAFE_INTEGER - i, s })))
    expect(await database.query(`SELECT n FROM t WHERE s = 'x?' OR s = ? -- why?`, ['é 🙂'])).toHaveLength(1)
    expect(await database.query('SELECT n FROM t WHERE s = ?', ['a\0b'])).toHaveLength(1)
    await database.query('UPDATE t SET n = 10 - length(s) WHERE s IS NOT NULL AND length(s) IN (0, 12)')
    expect(await database.query('SELECT count(*) AS c, sum(n) AS s FROM t WHERE n < 11')).toEqual([
      { c: 2, s: 8 },
    ])
  })

  it('throws conflict for an existing row', async () => {
    const { database, numbers } = await openWithTable()
    await database.query('INSERT INTO t (n) VALUES (1)')
    await expect(database.query('INSERT INTO t (n) VALUES (1)')).rejects.toMatchObject({ code: 'conflict' })
    await expect(database.query('nonsense')).rejects.toThrow('syntax error')
    expect(await numbers()).toEqual([1])
  })

  it('commits a transaction completely or not at all', async () => {
    const { database, numbers } = await openWithTable()
    const done = await database.tx('t', async (session) => {
      await session.query('INSERT INTO t (n) VALUES (1)')
      return 'done'
    })
    expect(done).toBe('done')
    const failing = database.tx('t', async (session) => {
      await session.query('INSERT INTO t (n) VALUES (2)')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    const conflicting = database.tx('t', async (session) => {
      await session.query('INSERT INTO t (n) VALUES (3)')
      await session.query('INSERT INTO t (n) VALUES (1)')
    })
    await expect(conflicting).rejects.toMatchObject({ code: 'conflict' })
    expect(await numbers()).toEqual([1])
  })

  it('runs transactions of one lock one after the other, in all processes', async () => {
    const { database, numbers } = await openWithTable()
    const databases = [database, await engine.openAgain(), await engine.openAgain()]
    const next = (one: typeof database) =>
      one.tx('counter', async (session) => {
        const [row] = await session.query<{ n: number | null }>('SELECT max(n) AS n FROM t')
        await session.query('INSERT INTO t (n) VALUES (?)', [(row?.n ?? 0) + 1])
      })
    await Promise.all(Array.from({ length: 60 }, (_, i) => next(databases[i % 3] ?? database)))
    expect(await numbers()).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
  })

  it('continues after a failed transaction, under the same lock and any other', async () => {
    const { database, numbers } = await openWithTable()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, i) =>
        database.tx(`lock ${i % 3}`, async (session) => {
          await session.query('INSERT INTO t (n) VALUES (?)', [i])
          if (i % 2 === 0) throw new Error('no')
        }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(15)
    expect(await numbers()).toEqual(Array.from({ length: 15 }, (_, i) => 2 * i + 1))
  })

  it('executes statements that were sent in their order with others', async () => {
    const { database, numbers } = await openWithTable()
    const found = await database.tx('t', async (session) => {
      session.send('INSERT INTO t (n) VALUES (?)', [1])
      session.send('UPDATE t SET n = n + ?', [1])
      const all = await Promise.all(
        ['SELECT n FROM t', 'SELECT n + 1 AS n FROM t'].map((sql) => session.query<{ n: number }>(sql)),
      )
      session.send('INSERT INTO t (n) VALUES (?)', [7])
      return all.flat().map(({ n }) => n)
    })
    expect([found, await numbers()]).toEqual([
      [2, 3],
      [2, 7],
    ])
  })

  it('fails with the error of a statement that was sent, and stores nothing', async () => {
    const { database, numbers } = await openWithTable()
    await database.query('INSERT INTO t (n) VALUES (1)')
    const twice = (read: boolean) =>
      database.tx('t', async (session) => {
        session.send('INSERT INTO t (n) VALUES (?)', [2])
        session.send('INSERT INTO t (n) VALUES (?)', [1])
        if (read) await session.query('SELECT n FROM t')
      })
    await expect(twice(true)).rejects.toMatchObject({ code: 'conflict' })
    await expect(twice(false)).rejects.toMatchObject({ code: 'conflict' })
    expect(await numbers()).toEqual([1])
  })

  it('is migrated once, however many processes start at once', async () => {
    const database = await engine.open()
    const databases = [database, await engine.openAgain(), await engine.openAgain()]
    const ran = await Promise.all(databases.map((one) => migrate(one)))
    const [row] = await database.query<{ last: number }>('SELECT max(version) AS last FROM schema_migrations')
    expect(ran.reduce((sum, count) => sum + count, 0)).toBe(row?.last)
    expect(await migrate(database)).toBe(0)
  })

  it('can be closed twice and then reports that it is closed', async () => {
    const { database } = await openWithTable()
    await database.close()
    await database.close()
    await expect(database.query(NUMBERS)).rejects.toThrow()
    await expect(database.tx('t', (session) => session.query(NUMBERS))).rejects.toThrow()
  })
})
