import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import type { EventDraft } from '../../../src/events/event-log.ts'
import { openEventOutbox } from '../../../src/storage/sql/events/outbox.ts'
import { eventually } from '../../support/eventually.ts'
import { TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql, type SqlEngine } from '../../support/stores/sql/sql-databases.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

const ENDS = 12
const WRITTEN_AT = 1_000_000

/** Outboxes of processes that follow one another on one database, which look for ends of runs when they are opened. */
async function outboxes(engine: SqlEngine) {
  const database = await engine.openRuns()
  const arrived: string[] = []
  const time = { now: NOW }
  let looks = 0
  const open = () => {
    const outbox = openEventOutbox({
      database,
      clock: testClock(() => (looks++, time.now)),
      logger: createLogger({ level: 'silent' }),
      deliver: async (_id, _thread, items) => void arrived.push(...items.map(({ event }) => event)),
      retire: async () => undefined,
    })
    onTestFinished(() => outbox.close())
    return outbox
  }
  const thread = { ...TENANT, thread_id: randomUUID() }
  return { database, thread, arrived, time, looks: () => looks, open }
}

describeOnSql('ends of runs on their way to another log', (engine) => {
  it('arrive in their order after a restart, also when all have the same millisecond', async () => {
    const { database, thread, arrived, time, looks, open } = await outboxes(engine)
    const names = Array.from({ length: ENDS }, (_, number) => `end ${number}`)
    const outbox = open()
    await eventually(async () => expect(looks()).toBe(1))
    time.now = WRITTEN_AT
    for (const event of names) {
      const items: EventDraft[] = [{ run_id: null, event, data: '' }]
      // The process ends after the write and before the delivery.
      await database.tx('thread', async (session) => void (await outbox.write(session, thread, items)))
    }
    // Engines may return rows in any order.
    await database.tx('thread', async (session) => {
      const rows = await session.query<{ outbox_id: string; items: string }>(
        'SELECT outbox_id, items FROM event_outbox ORDER BY outbox_id DESC',
      )
      await session.query('DELETE FROM event_outbox')
      for (const { outbox_id, items } of rows) {
        await session.query(
          `INSERT INTO event_outbox (outbox_id, thread_id, deployment_id, workspace_id, created_at, items)
            VALUES (?, ?, ?, ?, ?, ?)`,
          [outbox_id, thread.thread_id, thread.deployment_id, thread.workspace_id, WRITTEN_AT, items],
        )
      }
    })
    expect(arrived).toEqual([])
    open()
    await eventually(async () => expect(arrived).toHaveLength(ENDS))
    expect(arrived).toEqual(names)
  })

  it('arrive after a restart although the clock was ahead when they were written', async () => {
    const { database, thread, arrived, time, looks, open } = await outboxes(engine)
    const outbox = open()
    await eventually(async () => expect(looks()).toBe(1))
    time.now = NOW + 3_600_000
    const items: EventDraft[] = [{ run_id: null, event: 'end', data: '' }]
    await database.tx('thread', async (session) => void (await outbox.write(session, thread, items)))
    time.now = NOW
    open()
    await eventually(async () => expect(arrived).toEqual(['end']))
  })

  it('are delivered again when the log comes back after an outage of up to an hour', async () => {
    const { database, thread, arrived, time, looks, open } = await outboxes(engine)
    const outbox = open()
    await eventually(async () => expect(looks()).toBe(1))
    time.now = WRITTEN_AT
    const end = async (event: string): Promise<void> => {
      const write = database.tx('thread', (session) =>
        outbox.write(session, thread, [{ run_id: null, event, data: '' }]),
      )
      ;(await write)()
      await eventually(async () => expect(arrived.at(-1)).toBe(event))
    }
    await end('first')
    time.now += 5 * 60_000
    outbox.repeat()
    await eventually(async () => expect(arrived).toEqual(['first', 'first']))
    time.now += 2 * 60 * 60_000
    outbox.repeat()
    // Deliveries are made in order. When this one has arrived, any repeated delivery would have arrived too.
    await end('second')
    expect(arrived).toEqual(['first', 'first', 'second'])
  })
})
