import { randomUUID } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import type { ThreadRef } from '../../../src/events/event-log.ts'
import { RUN_DONE } from '../../../src/events/views.ts'
import { createEventTrim } from '../../../src/storage/sql/events/trim.ts'
import { admissionOf, admitted, CLAIMER, endOf, started, TENANT } from '../../support/runs/run-store.ts'
import { openRunState } from '../../support/runs/world.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'

describeOnSql('the ends of runs', (engine) => {
  let close: (() => Promise<void>) | undefined
  afterEach(async () => await close?.())

  async function open() {
    const database = await engine.openRuns()
    const state = openRunState(database)
    close = state.close
    const thread: ThreadRef = { ...TENANT, thread_id: randomUUID() }
    /** The runs that have ended according to the log, with their status. */
    const ends = async (): Promise<[string, string][]> => {
      const found: [string, string][] = []
      await state.events.append(thread, [{ run_id: null, event: 'mark', data: '' }], null)
      for await (const batch of state.events.read(thread, 'start', new AbortController().signal)) {
        for (const item of batch) {
          if ('gap' in item) throw new Error('a gap')
          const { run_id, run_status } = item.event === RUN_DONE ? JSON.parse(item.data) : {}
          if (item.event === RUN_DONE) found.push([run_id, run_status])
        }
        if (batch.some((item) => 'event' in item && item.event === 'mark')) break
      }
      return found
    }
    return { ...state, database, thread, ends }
  }

  it('are in the log as soon as the runs end in the store, once', async () => {
    const { store, thread, ends } = await open()
    const claim = await started(store, thread.thread_id)
    const live = ends
    await store.finish(claim, endOf('success'))
    expect((await store.finish(claim, endOf('success'))).kind).toBe('lost')
    expect(await live()).toEqual([[claim.run_id, 'success']])
  })

  it('are in the log together with the closing events of the run', async () => {
    const { store, events, thread } = await open()
    const claim = await started(store, thread.thread_id)
    const read = events.read(thread, 'start', new AbortController().signal)[Symbol.asyncIterator]()
    const next = read.next()
    await store.finish(claim, endOf('error'), (status) => [
      { run_id: claim.run_id, event: 'error', data: status },
    ])
    expect((await next).value).toMatchObject([{ event: 'error', data: 'error', run_id: claim.run_id }])
  })

  it('are written for runs that are rolled back, released for the last time, or recovered', async () => {
    const { store, thread, ends } = await open()
    const first = await started(store, thread.thread_id)
    await store.rollback(first)
    const second = await started(store, thread.thread_id)
    const why = { error: 'Lost', message: 'lost' }
    await store.release(second, why, 1)
    const third = await started(store, thread.thread_id)
    expect(await store.recover(CLAIMER.owner, 3)).toHaveLength(1)
    const [again] = await store.claim(CLAIMER, [TENANT.deployment_id], 1)
    expect(again?.run_id).toBe(third.run_id)
    await store.recover(CLAIMER.owner, 2)
    expect(await ends()).toEqual([
      [first.run_id, 'deleted'],
      [second.run_id, 'error'],
      [third.run_id, 'error'],
    ])
  })

  it('are written for runs that are cancelled before they begin', async () => {
    const { store, thread, ends } = await open()
    const { thread_id } = thread
    const running = await started(store, thread_id)
    const pending = []
    for (let n = 0; n < 3; n++) pending.push((await admitted(store, admissionOf(thread_id))).run.run_id)
    await store.requestCancel(TENANT, { thread_id, run_ids: [pending[0] ?? ''] }, 'interrupt')
    await store.requestCancel(TENANT, { thread_id, run_ids: [pending[1] ?? ''] }, 'rollback')
    const next = await admitted(store, admissionOf(thread_id, { multitask_strategy: 'rollback' }))
    await store.finish(running, endOf('success'))
    expect(await ends()).toEqual([
      [pending[0], 'interrupted'],
      [pending[1], 'deleted'],
      [pending[2], 'deleted'],
      [running.run_id, 'deleted'],
    ])
    expect(next.cancelling).toHaveLength(1)
  })

  it('leave no events of a deleted log behind', async () => {
    const { store, database, thread } = await open()
    await store.finish(await started(store, thread.thread_id), endOf('success'))
    // The state that two processes may leave when one deletes a log while the other appends to it.
    await database.query('DELETE FROM event_logs')
    const later = testClock(() => Date.now() + 60_000)
    await createEventTrim(database, later, { events: 1e6, chars: 1e9, age_ms: 1, total_chars: 1e12 })(null)
    expect(await database.query('SELECT * FROM event_chunks')).toEqual([])
  })

  it('can be read for a while after the thread is deleted with its run', async () => {
    const { store, database, thread, ends } = await open()
    const claim = await started(store, thread.thread_id)
    await store.finish(claim, endOf('success'))
    await store.deleteThreads(TENANT, [thread.thread_id], 'nothing')
    expect(await ends()).toEqual([[claim.run_id, 'success']])
    const later = (minutes: number) =>
      createEventTrim(
        database,
        testClock(() => Date.now() + minutes * 60_000),
        {
          events: 1e6,
          chars: 1e9,
          age_ms: 1e9,
          total_chars: 1e12,
        },
      )(null)
    const count = async (): Promise<unknown> =>
      (await database.query<{ n: number }>('SELECT count(*) AS n FROM event_chunks'))[0]?.n
    await later(5)
    expect(await count()).toBe(2)
    await later(11)
    expect(await count()).toBe(0)
    expect(await database.query('SELECT * FROM event_logs')).toEqual([])
  })
})
