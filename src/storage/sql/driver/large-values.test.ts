import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { admissionOf, TENANT } from '../../../../test/support/runs/run-store.ts'
import { systemClock } from '../../../base/clock.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { rawJson } from '../../../schema/raw-json.ts'
import { createSqlEventStore } from '../events/event-store.ts'
import { createKvStore } from '../items/kv-store.ts'
import { createRunStore } from '../runs/run-store.ts'
import { LARGE_BYTES, type StatementTask, type StatementThread } from './large-values.ts'
import { openRunDatabase } from './open-run-database.ts'
import { serveStatements } from './serve-statements.ts'
import { newFolder } from '../../../../test/support/folder.ts'

const LARGE = rawJson(JSON.stringify({ text: 'x'.repeat(LARGE_BYTES) })) as JsonObject

/** A run database in a file. Statements for large values use separate connections, but run in this thread. */
async function openWorld() {
  const dir = await newFolder()
  const file = join(dir, 'runs.db')
  const tasks: string[] = []
  const served: Record<string, ReturnType<typeof serveStatements>> = {}
  const thread = (name: string, readOnly: boolean): StatementThread => ({
    async run<T>(task: StatementTask) {
      tasks.push(`${name} ${task.kind}`)
      served[name] ??= serveStatements(file, { readOnly })
      return (await served[name].run(structuredClone(task))) as T
    },
    async close() {
      await served[name]?.close()
    },
  })
  const large = { reads: thread('reads', true), writes: thread('writes', false) }
  const database = await openRunDatabase({ url: undefined, file }, large)
  onTestFinished(async () => {
    await database.close()
    // Without its log, which SQLite deletes with the last connection that may write.
    expect(await readdir(dir)).toEqual(['runs.db'])
  })
  /** Replaces the writing thread, as after its unexpected end. */
  const loseWriter = async (): Promise<void> => {
    await served['writes']?.close()
    served['writes'] = serveStatements(file, {})
  }
  return { database, loseWriter, taken: () => [...new Set(tasks.splice(0))] }
}

const WRITTEN = ['writes begin', 'writes query', 'writes commit']

it('the texts of a large item are taken where its index says, those of a small one at once', async () => {
  const { database } = await openWorld()
  const asked: number[] = []
  const texts = async (json: string): Promise<{ path: string; text: string }[]> => {
    asked.push(json.length)
    return [{ path: 'a 0', text: 'a text' }]
  }
  const index = { fields: ['a'], embed: async () => [[1, 0]], large: { texts } }
  const options = { default_ttl: null, refresh_on_read: false, index }
  const items = createKvStore(database, systemClock, options)
  await items.put(TENANT, { namespace: ['a'], key: 'small', value: { a: 'a text' } })
  expect(asked).toEqual([])
  await items.put(TENANT, { namespace: ['a'], key: 'large', value: LARGE })
  expect(asked).toEqual([JSON.stringify(LARGE).length])
  const search = { namespace_prefix: ['a'], limit: 10, offset: 0, vector: [1, 0] }
  const { items: found } = await items.search(TENANT, search)
  expect(found.map(({ key }) => key).sort()).toEqual(['large', 'small'])
})

it('items, inputs and states of more than a megabyte are written and read in threads, smaller ones are not', async () => {
  const { database, taken } = await openWorld()
  const items = createKvStore(database, systemClock, { default_ttl: null, refresh_on_read: false })
  const runs = createRunStore(database, systemClock)
  const key = { namespace: ['a'], key: 'k' }
  await items.put(TENANT, { ...key, value: { small: true } })
  expect(await items.get(TENANT, ['a'], 'k')).toMatchObject({ value_json: '{"small":true}' })
  const small = admissionOf(randomUUID())
  await runs.admit(TENANT, small)
  await runs.getRun(TENANT, null, small.run.run_id)
  await runs.getThread(TENANT, small.run.thread_id)
  expect(taken()).toEqual([])

  await items.put(TENANT, { ...key, value: LARGE })
  expect(taken()).toEqual(WRITTEN)
  expect((await items.get(TENANT, ['a'], 'k'))?.value_json).toBe(JSON.stringify(LARGE))
  expect(taken()).toEqual(['reads query'])

  const { run } = small
  const { thread_id } = run
  const large = { run_id: randomUUID(), thread_id, kwargs: { ...run.kwargs, input: LARGE } }
  await runs.admit(TENANT, admissionOf(thread_id, { run: large }))
  expect(taken()).toEqual(WRITTEN)
  expect(JSON.stringify((await runs.getRun(TENANT, null, large.run_id))?.kwargs.input)).toBe(
    JSON.stringify(LARGE),
  )
  expect(taken()).toEqual(['reads query'])

  const state = { values_json: JSON.stringify(LARGE), next: [], interrupts: {} }
  await runs.updateThread(TENANT, thread_id, { state })
  expect(taken()).toEqual(WRITTEN)
  expect((await runs.getThread(TENANT, thread_id))?.values_json).toBe(state.values_json)
  expect(taken()).toEqual(['reads query'])
  await runs.updateThread(TENANT, thread_id, { metadata: { a: 1 } })
  expect(taken()).toEqual(WRITTEN)
})

it('a run with a large input is claimed, and a page with a large event is read, in threads; others are not', async () => {
  const { database, taken } = await openWorld()
  const runs = createRunStore(database, systemClock)
  const claimer = { owner: 'o', lease_ms: 60_000, traced: false }
  const claim = () => runs.claim(claimer, [TENANT.deployment_id], 10)
  const queued = async (input: JsonObject): Promise<void> => {
    const { run, ...rest } = admissionOf(randomUUID())
    await runs.admit(TENANT, { ...rest, claim: null, run: { ...run, kwargs: { ...run.kwargs, input } } })
  }
  await queued({ small: true })
  expect(await claim()).toHaveLength(1)
  expect(taken()).toEqual([])
  await queued(LARGE)
  taken()
  const [claimed] = await claim()
  expect(JSON.stringify(claimed?.run.kwargs.input)).toBe(JSON.stringify(LARGE))
  expect(taken()).toEqual(WRITTEN)

  const bounds = { events: 100, chars: 1 << 30, age_ms: 1 << 30, total_chars: 1 << 30 }
  const events = createSqlEventStore({ database, clock: systemClock, bounds })
  const thread = { ...TENANT, thread_id: randomUUID() }
  const page = async (data: string): Promise<string[]> => {
    await events.append([{ thread, lease: null, items: [{ run_id: null, event: 'e', data }] }])
    taken()
    return (await events.page(thread, [0, -1]))!.chunks.flatMap(({ items }) => items.map((one) => one.data))
  }
  expect(await page('1')).toEqual(['1'])
  expect(taken()).toEqual([])
  const large = JSON.stringify('x'.repeat(LARGE_BYTES))
  expect(await page(large)).toEqual(['1', large])
  expect(taken()).toEqual(['reads query'])
})

it('a transaction in a thread is committed completely or not at all, and others wait for it', async () => {
  const { database, taken } = await openWorld()
  await database.query('CREATE TABLE t (n INTEGER PRIMARY KEY)')
  const numbers = async () =>
    (await database.query<{ n: number }>('SELECT n FROM t ORDER BY n')).map(({ n }) => n)
  const broken = database.tx(
    't',
    async (session) => {
      await session.query('INSERT INTO t VALUES (1)')
      throw new Error('no')
    },
    LARGE_BYTES + 1,
  )
  await expect(broken).rejects.toThrow('no')
  const order: number[] = []
  const insert = (n: number, bytes: number) =>
    database.tx(
      't',
      async (session) => {
        await session.query('INSERT INTO t VALUES (?)', [n])
        order.push(n)
      },
      bytes,
    )
  await Promise.all([insert(2, LARGE_BYTES + 1), insert(3, 0), insert(4, LARGE_BYTES + 1)])
  expect(order).toEqual([2, 3, 4])
  expect(await numbers()).toEqual([2, 3, 4])
  expect(taken()).toContain('writes rollback')
  await expect(insert(2, LARGE_BYTES + 1)).rejects.toMatchObject({ code: 'conflict' })
})

it('a transaction whose thread ends stores nothing, nor do its later statements', async () => {
  const { database, loseWriter } = await openWorld()
  await database.query('CREATE TABLE t (n INTEGER PRIMARY KEY)')
  const lost = database.tx(
    't',
    async (session) => {
      await session.query('INSERT INTO t VALUES (1)')
      await loseWriter()
      await session.query('INSERT INTO t VALUES (2)')
    },
    LARGE_BYTES + 1,
  )
  await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(await database.query('SELECT n FROM t')).toEqual([])
})
