import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/base/errors.ts'
import type { Database, LastStatement } from '../../../src/storage/sql/driver/database.ts'
import {
  numberPlaceholders,
  openPostgres,
  type PostgresOptions,
} from '../../../src/storage/sql/driver/postgres.ts'
import { eventually } from '../../support/eventually.ts'
import { type PostgresCluster, startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { inLong } from '../../support/length.ts'

const reason = withoutPostgres()
const UNAVAILABLE = { code: 'store_unavailable' }

describe('numberPlaceholders', () => {
  it('numbers question marks outside of quotes and comments', () => {
    const sql = `SELECT '?''?', "?" FROM t -- ?\nWHERE a = ? AND b = ?`
    expect(numberPlaceholders(sql)).toBe(`SELECT '?''?', "?" FROM t -- ?\nWHERE a = $1 AND b = $2`)
  })
})

describe.skipIf(reason !== '')(`openPostgres${reason}`, () => {
  let cluster: PostgresCluster
  let url: string
  let database: Database
  const opened: Database[] = []
  const open = (options: PostgresOptions = {}): Database => {
    const one = openPostgres(url, options)
    opened.push(one)
    return one
  }
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster?.stop())
  beforeEach(async () => {
    url = await cluster.createDatabase()
    database = open()
    await database.query('CREATE TABLE t (n BIGINT PRIMARY KEY)')
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()))
  })
  const numbers = async () =>
    (await database.query<{ n: number }>('SELECT n FROM t ORDER BY n')).map(({ n }) => n)

  it('runs transactions of different locks at the same time, more of them than there are connections', async () => {
    const count = 10
    let inside = 0
    const all = Promise.withResolvers<void>()
    const one = (i: number) =>
      database.tx(`lock ${i}`, async (session) => {
        if (++inside === count) all.resolve()
        await all.promise
        await session.query('INSERT INTO t (n) VALUES (?)', [i])
      })
    const waiting = Array.from({ length: 40 }, () =>
      database.tx('lock 0', (session) => session.query('SELECT 1')),
    )
    await Promise.all(Array.from({ length: count }, (_, i) => one(i + 1)))
    await Promise.all(waiting)
    expect(await numbers()).toHaveLength(count)
  })

  inLong(() => {
    it('waits while the role has all connections that it may have', async () => {
      await database.query('CREATE ROLE few LOGIN CONNECTION LIMIT 2')
      url = url.replace('weir@', 'few@')
      const few = open()
      const work = (i: number) => few.tx(`lock ${i}`, (session) => session.query('SELECT pg_sleep(0.02)'))
      const ended = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => work(i)))
      expect(ended.filter(({ status }) => status === 'rejected')).toEqual([])
    })

    it('work waits for a connection for as long as other work ends, and then no longer', async () => {
      const few = open({ connections: 1, statementTimeoutMs: 1_000, silenceMs: 100 })
      const sleep = (seconds: number) =>
        few.query('SELECT pg_sleep(CAST(? AS double precision))', [String(seconds)])
      // Together they take longer than the limit, but each takes much less.
      await Promise.all(Array.from({ length: 7 }, () => sleep(0.2)))
      const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const holding = few.tx('t', async () => {
        begun.resolve()
        await held.promise
      })
      await begun.promise
      await expect(sleep(0)).rejects.toMatchObject({
        ...UNAVAILABLE,
        message: expect.stringContaining('in use'),
      })
      held.resolve()
      await holding
      expect(await sleep(0)).toHaveLength(1)
    })

    it('runs a transaction again after a deadlock', async () => {
      await database.query('INSERT INTO t (n) VALUES (1), (2)')
      const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
      let runs = 0
      const touch = (first: number, second: number, mine: 0 | 1) =>
        database.tx(`touch ${first}`, async (session) => {
          runs++
          await session.query('UPDATE t SET n = n WHERE n = ?', [first])
          both[mine].resolve()
          await both[mine === 0 ? 1 : 0].promise
          await session.query('UPDATE t SET n = n WHERE n = ?', [second])
        })
      await Promise.all([touch(1, 2, 0), touch(2, 1, 1)])
      // Sometimes more than 3: the cancelled transaction may lock its row again before the other transaction wakes up,
      // and both wait again.
      expect(runs).toBeGreaterThanOrEqual(3)
    })
  })

  it('executes last statements with the commit, so that others do not wait for their locks', async () => {
    await database.query('CREATE TABLE counts (name TEXT PRIMARY KEY, used BIGINT NOT NULL)')
    const count = (amount: number, most: number): LastStatement => ({
      sql: `WITH counted AS (INSERT INTO counts (name, used) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET used = counts.used + excluded.used RETURNING used)
        SELECT CAST(CASE WHEN used > ? THEN 'too many' END AS INTEGER) FROM counted`,
      params: ["a 'name'?", amount, most],
      refusal: () => new AppError('quota_reached'),
    })
    const [begun, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = database.tx('slow', async (session) => {
      session.atCommit?.(count(1, 10))
      await session.query('INSERT INTO t (n) VALUES (1)')
      begun.resolve()
      await free.promise
    })
    await begun.promise
    await database.tx('quick', async (session) => session.atCommit?.(count(2, 10)))
    free.resolve()
    await slow
    const used = async () => (await database.query<{ used: number }>('SELECT used FROM counts'))[0]?.used
    expect([await used(), await numbers()]).toEqual([3, [1]])
    const refused = database.tx('refused', async (session) => {
      await session.query('INSERT INTO t (n) VALUES (2)')
      session.atCommit?.(count(8, 10))
    })
    await expect(refused).rejects.toMatchObject({ code: 'quota_reached' })
    expect([await used(), await numbers()]).toEqual([3, [1]])
  })

  it('does not commit statements after a failed one', async () => {
    const careless = database.tx('t', async (session) => {
      await session.query('INSERT INTO t (n) VALUES (1)')
      await session.query('nonsense').catch(() => undefined)
    })
    await expect(careless).rejects.toThrow('went on')
    expect(await numbers()).toEqual([])
  })

  it('throws store_unavailable when connections break, stores nothing of the transaction, and connects again', async () => {
    const other = open()
    const cut = () =>
      other.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      )
    const interrupted = database.tx('t', async (session) => {
      await session.query('INSERT INTO t (n) VALUES (1)')
      await cut()
      await session.query('INSERT INTO t (n) VALUES (2)')
    })
    await expect(interrupted).rejects.toMatchObject(UNAVAILABLE)
    expect(await numbers()).toEqual([])
    await cut()
    expect(await eventually(numbers)).toEqual([])
    await database.tx('t', (session) => session.query('INSERT INTO t (n) VALUES (3)'))
    expect(await numbers()).toEqual([3])
  })

  inLong(() => {
    it('ends a wait that is too long, and leaves no lock behind', async () => {
      const hurried = open({ statementTimeoutMs: 1_000 })
      const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const holding = database.tx('t', async (session) => {
        await session.query('SELECT 1')
        held.resolve()
        await free.promise
      })
      await held.promise
      await expect(hurried.tx('t', (session) => session.query('SELECT 1'))).rejects.toMatchObject(UNAVAILABLE)
      free.resolve()
      await holding
      expect(await hurried.tx('t', (session) => session.query('SELECT 1 AS one'))).toEqual([{ one: 1 }])
    })
  })

  it('is unavailable while the server is unreachable and works again afterwards', async () => {
    await database.query('INSERT INTO t (n) VALUES (1)')
    await cluster.kill()
    await expect(numbers()).rejects.toMatchObject(UNAVAILABLE)
    await expect(database.tx('t', (session) => session.query('SELECT 1'))).rejects.toMatchObject(UNAVAILABLE)
    await cluster.start()
    expect(await eventually(numbers)).toEqual([1])
  })

  it('has the reason in the cause of its errors, and never the password', async () => {
    url = url.replace('weir@', 'nobody:secret-word@')
    const error: unknown = await open()
      .query('SELECT 1')
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ cause: { message: expect.stringContaining('nobody') } })
    expect(JSON.stringify(error) + String((error as Error).cause)).not.toContain('secret-word')
  })
})
