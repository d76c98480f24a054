import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { Cron, CronSearch, CronStore } from '../../../src/runs/crons/store.ts'
import { createCronStore } from '../../../src/storage/sql/runs/cron-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { TENANT } from '../../support/runs/run-store.ts'
import { eventually } from '../../support/eventually.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const NOW = 1_700_000_000_000
const ALL: CronSearch = { sort_by: 'created_at', sort_order: 'desc', limit: 10, offset: 0 }
const DEPLOYMENTS = [TENANT.deployment_id]

function cronOf(change: Partial<Cron> = {}): Cron {
  return {
    cron_id: randomUUID(),
    assistant_id: 'assistant',
    thread_id: null,
    on_run_completed: 'delete',
    schedule: '* * * * *',
    timezone: null,
    end_time: null,
    next_run_date: NOW,
    enabled: true,
    caller: { user_id: 'user', api_key_id: 'key' },
    payload: { input: { a: [1, null] } },
    metadata: {},
    created_at: NOW,
    updated_at: NOW,
    ...change,
  }
}

describeOnSql('crons', (engine) => {
  let database: Database
  let store: CronStore
  beforeEach(async () => {
    database = await engine.openRuns()
    store = createCronStore(
      database,
      testClock(() => NOW + 7),
    )
  })
  const make = async (change: Partial<Cron> = {}, tenant = TENANT): Promise<Cron> => {
    const cron = cronOf(change)
    await store.create(tenant, cron)
    return cron
  }

  it('are stored as given, changed and removed', async () => {
    const cron = await make({
      timezone: 'Europe/Berlin',
      end_time: NOW + 5,
      enabled: false,
      next_run_date: null,
    })
    expect(await store.get(TENANT, cron.cron_id)).toEqual(cron)
    const other = { ...TENANT, workspace_id: 'other' }
    expect(await store.get(other, cron.cron_id)).toBeUndefined()
    const change = (known: Cron): Cron => ({
      ...known,
      enabled: true,
      schedule: '@daily',
      next_run_date: NOW + 9,
      created_at: 1,
    })
    const changed = {
      ...cron,
      enabled: true,
      schedule: '@daily',
      next_run_date: NOW + 9,
      updated_at: NOW + 7,
    }
    expect(await store.update(TENANT, cron.cron_id, change)).toEqual(changed)
    expect(await store.get(TENANT, cron.cron_id)).toEqual(changed)
    expect(await store.update(other, cron.cron_id, change)).toBeUndefined()
    expect([await store.remove(other, cron.cron_id), await store.remove(TENANT, cron.cron_id)]).toEqual([
      false,
      true,
    ])
    expect(await store.remove(TENANT, cron.cron_id)).toBe(false)
  })

  it('a date that is taken while the cron is changed is not due again', async () => {
    const cron = await make()
    let taking: Promise<boolean> | undefined
    let isTaken = false
    // Between the read and the write of the change.
    const slow: Database = {
      ...database,
      tx: (lock, work) =>
        database.tx(lock, (session) =>
          work({
            ...session,
            async query<Row>(sql: string, params?: readonly (string | number | null)[]) {
              if (sql.startsWith('UPDATE')) {
                taking = store.advance({ ...TENANT, cron }, NOW + 60_000)
                void taking.then(() => (isTaken = true))
                if (engine.name === 'Postgres')
                  await eventually(async () => {
                    const waiting = await database.query(
                      `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE crons%'`,
                    )
                    expect(isTaken || waiting.length > 0).toBe(true)
                  })
              }
              return await session.query<Row>(sql, params)
            },
          }),
        ),
    }
    const changing = createCronStore(
      slow,
      testClock(() => NOW + 7),
    )
    await changing.update(TENANT, cron.cron_id, (known) => ({ ...known, metadata: { a: 1 } }))
    expect(await taking).toBe(true)
    expect(await store.get(TENANT, cron.cron_id)).toMatchObject({
      metadata: { a: 1 },
      next_run_date: NOW + 60_000,
    })
  })

  it('are found by assistant, thread, state and metadata, sorted, in pages', async () => {
    const made = [
      await make({ assistant_id: 'b', thread_id: 't', created_at: NOW + 1 }),
      await make({ metadata: { team: { a: 1, b: 2 } }, created_at: NOW + 2, next_run_date: NOW + 50 }),
      await make({ enabled: false, next_run_date: null, created_at: NOW + 3 }),
    ]
    const found = async (search: Partial<CronSearch>): Promise<number[]> => {
      const { crons } = await store.search(TENANT, { ...ALL, ...search })
      return crons.map(({ cron_id }) => made.findIndex((cron) => cron.cron_id === cron_id))
    }
    expect(await found({})).toEqual([2, 1, 0])
    expect(await found({ sort_by: 'next_run_date', sort_order: 'asc' })).toEqual([2, 0, 1])
    expect(await found({ assistant_id: 'b' })).toEqual([0])
    expect(await found({ thread_id: 't' })).toEqual([0])
    expect(await found({ enabled: false })).toEqual([2])
    expect(await found({ metadata: { team: { a: 1 } } })).toEqual([1])
    expect(await found({ limit: 1, offset: 1 })).toEqual([1])
    expect(await store.search(TENANT, { ...ALL, limit: 0 })).toEqual({ crons: [], total: 3 })
    expect(await store.search({ ...TENANT, deployment_id: 'other' }, ALL)).toEqual({ crons: [], total: 0 })
  })

  it('are returned when they are due, the longest overdue first, of the requested deployments', async () => {
    const late = await make({ next_run_date: NOW - 100 })
    const due = await make({ next_run_date: NOW })
    await make({ next_run_date: NOW + 1 })
    await make({ enabled: false, next_run_date: null })
    await make({ next_run_date: NOW - 200 }, { ...TENANT, deployment_id: 'other' })
    expect(await store.due(DEPLOYMENTS, NOW, 10)).toEqual([
      { ...TENANT, cron: late },
      { ...TENANT, cron: due },
    ])
    expect(await store.due(DEPLOYMENTS, NOW, 1)).toEqual([{ ...TENANT, cron: late }])
    expect(await store.due([], NOW, 1)).toEqual([])
    expect(await store.nextDue(DEPLOYMENTS)).toBe(NOW - 100)
    expect(await store.nextDue(['other'])).toBe(NOW - 200)
    expect(await store.nextDue(['none'])).toBeUndefined()
    expect(await store.nextDue([])).toBeUndefined()
  })

  it('are advanced by one process only', async () => {
    await make()
    const [first] = await store.due(DEPLOYMENTS, NOW, 1)
    if (first === undefined) throw new Error('nothing is due')
    const elsewhere = createCronStore(
      await engine.openAgain(),
      testClock(() => NOW),
    )
    const won = await Promise.all(
      [store, elsewhere, store, elsewhere].map((one) => one.advance(first, NOW + 60_000)),
    )
    expect(won.filter((mine) => mine)).toHaveLength(1)
    expect(await store.due(DEPLOYMENTS, NOW, 1)).toEqual([])
    const [again] = await store.due(DEPLOYMENTS, NOW + 60_000, 1)
    expect(again && (await store.advance(again, null))).toBe(true)
    expect(await store.nextDue(DEPLOYMENTS)).toBeUndefined()
  })

  it('RUN-31 are not due if another server takes their date while they are listed', async () => {
    const taken = await make({ next_run_date: NOW - 1 })
    const left = await make()
    const [first] = await store.due(DEPLOYMENTS, NOW, 1)
    if (first === undefined) throw new Error('nothing is due')
    const raced: Database = {
      ...database,
      async query(sql, values) {
        const rows = await database.query(sql, values)
        if (sql.includes('ORDER BY next_run_date')) await store.advance(first, NOW + 60_000)
        return rows as never
      },
    }
    const due = await createCronStore(
      raced,
      testClock(() => NOW),
    ).due(DEPLOYMENTS, NOW, 10)
    expect(due).toEqual([{ ...TENANT, cron: left }])
    expect((await store.get(TENANT, taken.cron_id))?.next_run_date).toBe(NOW + 60_000)
  })
})
