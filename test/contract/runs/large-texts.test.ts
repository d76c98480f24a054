import { randomUUID } from 'node:crypto'
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { beforeEach, expect, it } from 'vitest'
import type { Clock } from '../../../src/base/clock.ts'
import type { ThreadRef } from '../../../src/events/event-log.ts'
import type { EventStore } from '../../../src/events/event-store.ts'
import type { Claim, RunStore } from '../../../src/runs/run-store.ts'
import { toJsonText } from '../../../src/schema/raw-json.ts'
import { createSqlRowStore } from '../../../src/storage/sql/checkpoints/row-store.ts'
import { createCheckpointers } from '../../../src/storage/sql/checkpoints/checkpointer.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createSqlEventStore } from '../../../src/storage/sql/events/event-store.ts'
import { createRunEvents } from '../../../src/storage/sql/events/run-events.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { textOf } from '../../support/runs/large-state.ts'
import { admissionOf, admitted, CLAIMER, RUN_KWARGS, TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const BYTES = 2_000_000
const META = { source: 'loop' as const, step: 1, parents: {} }
const AGE_MS = 60_000
const BOUNDS = { events: 10_000, chars: 1 << 30, age_ms: AGE_MS, total_chars: 2 ** 40 }
const ALL = { sort_by: 'created_at', sort_order: 'desc', limit: 10, offset: 0 } as const

function leaseOf({ run_id, token, run }: Claim) {
  return { run_id, token, attempt: run.attempt }
}

describeOnSql('a large text of a thread', (engine) => {
  let database: Database
  let store: RunStore
  let events: EventStore
  let now = 0
  const clock: Clock = { now: () => now, steady: () => now }
  beforeEach(async () => {
    now = 1_800_000_000_000
    database = await engine.openRuns()
    const runEvents = createRunEvents({ clock, wire: undefined, committed: () => undefined })
    store = createRunStore(database, clock, runEvents)
    events = createSqlEventStore({ database, clock, bounds: BOUNDS })
  })

  /** Bytes of the texts of all columns that may have large texts, and of their pieces. */
  async function storedBytes(): Promise<number> {
    const columns = ['runs.input', 'thread_states.state_values', 'checkpoint_blobs.value']
    columns.push('checkpoint_writes.value', 'event_chunks.data', 'value_pieces.piece')
    let sum = 0
    for (const name of columns) {
      const [table, column] = name.split('.')
      const [row] = await database.query<{ bytes: number | null }>(
        `SELECT sum(octet_length(${column})) AS bytes FROM ${table}`,
      )
      sum += row?.bytes ?? 0
    }
    return sum
  }

  async function pieces(thread_id: string): Promise<number> {
    const sql = 'SELECT count(*) AS count FROM value_pieces WHERE of_thread = ?'
    return (await database.query<{ count: number }>(sql, [thread_id]))[0]?.count ?? 0
  }

  /** A run with the text as its input, which it stores as a checkpoint, a write and an event. */
  async function runWith(text: string, thread_id: string = randomUUID()) {
    const run = { kwargs: { ...RUN_KWARGS, input: { text } } }
    const { claim } = await admitted(store, admissionOf(thread_id, { claim: CLAIMER, run }))
    if (claim === null) throw new Error('the thread is not free')
    const saver = createCheckpointers(database).open(TENANT, claim)
    const config = { configurable: { thread_id, checkpoint_ns: '' } }
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(0),
      channel_values: { __start__: { text }, text },
      channel_versions: { __start__: 1, text: 1 },
    }
    const put = await saver.put(config, checkpoint, META, { __start__: 1, text: 1 })
    await saver.putWrites(put, [['text', `${text} and more`]], 'task')
    const thread: ThreadRef = { ...TENANT, thread_id }
    const item = { run_id: claim.run_id, event: 'values', data: JSON.stringify({ text, step: 1 }) }
    await events.append([{ thread, lease: leaseOf(claim), items: [item] }])
    return { claim, config, thread, text, event: item.data, values_json: JSON.stringify({ text, step: 2 }) }
  }

  type Made = Awaited<ReturnType<typeof runWith>>

  async function end({ claim, values_json }: { claim: Claim; values_json: string }): Promise<void> {
    const state = { values_json, next: [], interrupts: {} }
    await store.finish(claim, { status: 'success', error: null, partial_messages: null, state })
  }

  /** Everything that was stored can be read as it was. */
  async function expectWhole({ claim, config, thread, text, event, values_json }: Made): Promise<void> {
    const run = await store.getRun(TENANT, null, claim.run_id)
    expect(toJsonText(run?.kwargs.input ?? null)).toBe(JSON.stringify({ text }))
    const { runs } = (await store.listRuns(TENANT, null, { limit: 9, offset: 0 })) ?? { runs: [] }
    const listed = runs.find(({ run_id }) => run_id === claim.run_id)
    expect(toJsonText(listed?.kwargs.input ?? null)).toBe(JSON.stringify({ text }))
    await expectState({ config, text })
    const page = await events.page(thread, [0, 0])
    const data = page?.chunks.flatMap(({ items }) => items.map((item) => item.data)) ?? []
    expect(data[0] === event).toBe(true)
    expect((await store.getThread(TENANT, thread.thread_id))?.values_json === values_json).toBe(true)
  }

  async function expectState({ config, text }: Pick<Made, 'config' | 'text'>): Promise<void> {
    const tuple = await createCheckpointers(database).open(TENANT, null).getTuple(config)
    expect(tuple?.checkpoint.channel_values['text'] === text).toBe(true)
    expect(tuple?.pendingWrites?.[0]?.[2] === `${text} and more`).toBe(true)
  }

  it('is stored once, in whatever places of a run it is, and read as it was', async () => {
    const made = await runWith(textOf(BYTES))
    await end(made)
    await expectWhole(made)
    expect(await storedBytes()).toBeLessThan(1.5 * BYTES)
    const { channels, writes } = await store.threadStorage(TENANT, made.thread.thread_id)
    expect(channels['text']).toBe(BYTES + 2)
    expect(writes).toBe(BYTES + '"" and more'.length)
  })

  it('HOST-18: of a Python graph comes back in parts, also if the input has the same bytes', async () => {
    const text = textOf(BYTES)
    const { claim, thread } = await runWith(text)
    const { thread_id } = thread
    const rows = createSqlRowStore(database)
    const key = { thread_id, checkpoint_ns: '', checkpoint_id: uuid6(0), channel: 'bytes', version: '1' }
    const value = Buffer.from(text).toString('base64')
    const blob = { ...key, type: 'python:msgpack' as const, value }
    await rows.queue.add({ tenant: TENANT, thread_id, lease: claim }, { blobs: [blob] }, true)
    const { values } = await rows.contents(TENANT, key, [key], [])
    const parts = (values[0]?.value ?? '').split(/(?<==)(?!=)/)
    expect(Buffer.concat(parts.map((part) => Buffer.from(part, 'base64'))).toString() === text).toBe(true)
  })

  it('of a further run adds what differs', async () => {
    const text = textOf(BYTES)
    const first = await runWith(text)
    await end(first)
    const before = await storedBytes()
    const second = await runWith(`${text} and an answer`, first.thread.thread_id)
    await end(second)
    expect((await storedBytes()) - before).toBeLessThan(0.4 * BYTES)
    await expectState(second)
  })

  it('is found by the values of its thread', async () => {
    const made = await runWith(textOf(BYTES))
    await end(made)
    const found = await store.searchThreads(TENANT, { ...ALL, values: { step: 2 } })
    expect(found.threads.map(({ values_json }) => values_json === made.values_json)).toEqual([true])
    expect((await store.searchThreads(TENANT, { ...ALL, values: { step: 3 } })).total).toBe(0)
  })

  it('of an earlier release is read as it was, whatever its size', async () => {
    const made = await runWith(textOf(BYTES))
    await end(made)
    const wholes = [
      ['runs', 'input', JSON.stringify({ text: made.text })],
      ['thread_states', 'state_values', made.values_json],
      ['event_chunks', 'data', made.event],
    ] as const
    for (const [table, column, text] of wholes)
      await database.query(
        `UPDATE ${table} SET ${column} = ? WHERE thread_id = ? AND octet_length(${column}) > 100 AND substr(${column}, 1, 1) = '@'`,
        [text, made.thread.thread_id],
      )
    await expectWhole(made)
  })

  it('is rolled back with its run, and what is left stays whole', async () => {
    const kept = await runWith(textOf(BYTES))
    await end(kept)
    const before = await pieces(kept.thread.thread_id)
    const undone = await runWith(textOf(BYTES, 2), kept.thread.thread_id)
    await events.drop(undone.thread)
    await store.rollback(undone.claim)
    await expectState(kept)
    expect(await pieces(kept.thread.thread_id)).toBeLessThanOrEqual(before)
  })

  it('is copied with its thread, and both are deleted for themselves', async () => {
    const made = await runWith(textOf(BYTES))
    await end(made)
    const copy = randomUUID()
    await store.copyThread(TENANT, made.thread.thread_id, copy)
    await store.deleteThreads(TENANT, [made.thread.thread_id], 'nothing')
    await expectState({ ...made, config: { configurable: { thread_id: copy, checkpoint_ns: '' } } })
    expect((await store.getThread(TENANT, copy))?.values_json === made.values_json).toBe(true)
    // The stream of the deleted thread can still be read; then its pieces go with it.
    const page = await events.page(made.thread, [0, 0])
    expect(page?.chunks[0]?.items[0]?.data === made.event).toBe(true)
    now += 11 * 60_000
    await events.trim(null)
    expect(await pieces(made.thread.thread_id)).toBe(0)
    await store.deleteThreads(TENANT, [copy], 'nothing')
    expect(await pieces(copy)).toBe(0)
  })

  it('leaves no pieces when its events are too old and its checkpoints are pruned', async () => {
    const made = await runWith(textOf(BYTES))
    await end({ ...made, values_json: '{}' })
    const all = await pieces(made.thread.thread_id)
    now += AGE_MS + 1
    await events.trim(null)
    const untold = await pieces(made.thread.thread_id)
    expect(untold).toBeLessThan(all)
    const other = await runWith(textOf(1000), made.thread.thread_id)
    await end(other)
    expect(await store.deleteRun(TENANT, made.thread.thread_id, made.claim.run_id)).toBe('deleted')
    await store.deleteThreads(TENANT, [made.thread.thread_id], 'latest_checkpoint')
    await expectState(other)
    expect(await pieces(made.thread.thread_id)).toBe(0)
  })

  it('begins with the mark of a list of pieces and is still read as it was', async () => {
    const thread: ThreadRef = { ...TENANT, thread_id: randomUUID() }
    const data = '@000000000009aaaaaaaaaaaaaaaaaaaaaa'
    await events.append([{ thread, lease: null, items: [{ run_id: null, event: 'x', data }] }])
    const page = await events.page(thread, [0, 0])
    expect(page?.chunks[0]?.items[0]?.data).toBe(data)
  })

  if (engine.name === 'Postgres') {
    it('is whole when it is stored while unused pieces are deleted', async () => {
      const text = textOf(BYTES)
      const { thread, claim } = await runWith(text)
      const other = createSqlEventStore({ database: await engine.openAgain(), clock, bounds: BOUNDS })
      for (let round = 0; round < 20; round++) {
        const data = JSON.stringify({ text: textOf(200_000, round + 3) })
        const item = { run_id: claim.run_id, event: 'values', data }
        now += AGE_MS + 1
        await events.append([{ thread, lease: leaseOf(claim), items: [item] }])
        now += AGE_MS + 1
        await Promise.all([
          other.trim(null),
          events.append([{ thread, lease: leaseOf(claim), items: [item] }]),
        ])
        const page = await events.page(thread, [0, 0])
        for (const { items } of page?.chunks ?? [])
          for (const one of items) expect(one.data === data).toBe(true)
      }
    })
  }
})
