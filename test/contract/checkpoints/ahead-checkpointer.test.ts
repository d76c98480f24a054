import { randomUUID } from 'node:crypto'
import { type BaseCheckpointSaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { MemorySaver } from '@langchain/langgraph'
import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'
import type { Claim, RunStore } from '../../../src/runs/run-store.ts'
import { systemClock } from '../../../src/base/clock.ts'
import type { Checkpointers } from '../../../src/storage/sql/checkpoints/checkpointer.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { type Action, act, createRichGraph, outlineOf } from '../../support/runs/checkpoint-graphs.ts'
import { eventually } from '../../support/eventually.ts'
import { admissionOf, admitted, CLAIMER, endOf, started, TENANT } from '../../support/runs/run-store.ts'
import { describeCheckpoints } from '../../support/stores/broker.ts'
import { tries } from '../../support/properties.ts'
import { inLong } from '../../support/length.ts'

const META = { source: 'loop' as const, step: 0, parents: {} }
const back = fc.nat({ max: 12 })
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('invoke' as const), n: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('resume' as const), with: fc.constantFrom('yes', 'no') }),
  fc.record({ do: fc.constant('fork' as const), back, n: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('replay' as const), back }),
)

describeCheckpoints('checkpoints of a run that is ahead of its stored ones', (engine, openCheckpointers) => {
  let counts: { transactions: number; queries: number }
  let database: Database
  let store: RunStore
  let checkpointers: Checkpointers
  let claim: Claim
  beforeEach(async () => {
    database = await engine.openRuns()
    store = createRunStore(database, systemClock)
    counts = { transactions: 0, queries: 0 }
    checkpointers = await openCheckpointers(counting(database, counts), TENANT)
    claim = await started(store, randomUUID())
  })
  const stored = async (): Promise<string[]> => {
    const rows = await database.query<{ checkpoint_id: string }>(
      'SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id',
      [claim.thread_id],
    )
    return rows.map((row) => row.checkpoint_id)
  }
  const put = (saver: BaseCheckpointSaver, id: string, parent?: string) =>
    saver.put(
      { configurable: { thread_id: claim.thread_id, checkpoint_ns: '', checkpoint_id: parent } },
      { ...emptyCheckpoint(), id, channel_values: { n: id }, channel_versions: { n: id } },
      META,
      { n: id },
    )
  const newest = (saver: BaseCheckpointSaver) =>
    saver.getTuple({ configurable: { thread_id: claim.thread_id, checkpoint_ns: '' } })

  inLong(() => {
    it('reports when many bytes wait to be stored', async () => {
      const saver = checkpointers.openAhead(TENANT, claim)
      await put(saver, uuid6(0))
      expect(saver.caughtUp()).toBeUndefined()
      for (let step = 1; step <= 5; step += 1)
        await saver.put(
          { configurable: { thread_id: claim.thread_id, checkpoint_ns: '' } },
          { ...emptyCheckpoint(), id: uuid6(step), channel_values: { n: 'x'.repeat(4 << 20) } },
          META,
          { n: step },
        )
      const caughtUp = saver.caughtUp()
      expect(caughtUp).toBeInstanceOf(Promise)
      await caughtUp
      expect(saver.caughtUp()).toBeUndefined()
      expect(await stored()).toHaveLength(6)
    })
  })

  it('returns the same states as a memory saver, at once and after they are stored', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 4 }), async (actions) => {
        const id = randomUUID()
        const theirs = createRichGraph(new MemorySaver())
        for (const one of actions) {
          const run = await started(store, id)
          const saver = checkpointers.openAhead(TENANT, run)
          const ours = createRichGraph(saver)
          expect([one, await act(ours, id, one)]).toEqual([one, await act(theirs, id, one)])
          const ahead = await ours.getState({ configurable: { thread_id: id } })
          await saver.stored()
          const afterwards = createRichGraph(checkpointers.open(TENANT, null))
          expect(await afterwards.getState({ configurable: { thread_id: id } })).toEqual(ahead)
          await store.finish(run, endOf('success'))
        }
        const ours = createRichGraph(checkpointers.open(TENANT, null))
        expect(await outlineOf(ours, id)).toEqual(await outlineOf(theirs, id))
      }),
      tries(engine.name === 'SQLite' ? 6 : 2),
    )
  })

  it('stores checkpoints that follow at once in one transaction, and reports its end when all are stored', async () => {
    const saver = checkpointers.openAhead(TENANT, claim)
    const ids = Array.from({ length: 20 }, (_, i) => uuid6(i))
    for (const [i, id] of ids.entries()) {
      const config = await put(saver, id, ids[i - 1])
      await saver.putWrites(config, [['n', i]], 'task')
    }
    expect(counts.transactions).toBe(0)
    await saver.stored()
    expect(counts.transactions).toBe(1)
    expect(await stored()).toEqual(ids)
  })

  it('stores a step without a later one', async () => {
    await put(checkpointers.openAhead(TENANT, claim), uuid6(0))
    await eventually(async () => expect(await stored()).toHaveLength(1))
  })

  it('reads its last checkpoint from memory, with writes to it from the database', async () => {
    const saver = checkpointers.openAhead(TENANT, claim)
    const id = uuid6(0)
    const config = await put(saver, id)
    expect((await newest(saver))?.checkpoint.channel_values).toEqual({ n: id })
    expect(counts.queries).toBe(0)
    await saver.putWrites(config, [['n', 2]], 'task')
    expect((await newest(saver))?.pendingWrites).toEqual([['task', 'n', 2]])
  })

  inLong(() => {
    it('reads nothing of a thread that was created with the run, until the first write', async () => {
      const { claim: first } = await admitted(store, admissionOf(randomUUID(), { claim: CLAIMER }))
      if (first === null) throw new Error('not claimed')
      expect(first.fresh).toBe(true)
      const saver = checkpointers.openAhead(TENANT, first, true)
      const at = { configurable: { thread_id: first.thread_id, checkpoint_ns: '' } }
      expect(await saver.getTuple(at)).toBeUndefined()
      expect(counts.queries).toBe(0)
      await saver.putWrites(
        { configurable: { ...at.configurable, checkpoint_id: uuid6(0) } },
        [['n', 1]],
        'task',
      )
      await saver.getTuple(at)
      expect(counts.queries).toBeGreaterThan(0)
      await store.finish(first, endOf('success'))
      const { claim: second } = await admitted(store, admissionOf(first.thread_id, { claim: CLAIMER }))
      expect(second?.fresh).toBeUndefined()
    })
  })

  it('refuses a run whose lease is lost: later checkpoints are not stored, and the run gets the error', async () => {
    const saver = checkpointers.openAhead(TENANT, claim)
    await store.finish(claim, endOf('success'))
    const config = await put(saver, uuid6(0))
    await expect(saver.stored()).rejects.toMatchObject({ code: 'conflict' })
    await expect(put(saver, uuid6(1))).rejects.toMatchObject({ code: 'conflict' })
    await expect(saver.putWrites(config, [['n', 1]], 'task')).rejects.toMatchObject({ code: 'conflict' })
    await expect(saver.stored()).rejects.toMatchObject({ code: 'conflict' })
    expect(await stored()).toEqual([])
  })
})

/** The database, with a counter of its statements. */
function counting(database: Database, counts: { transactions: number; queries: number }): Database {
  return {
    ...database,
    query(sql, params) {
      counts.queries++
      return database.query(sql, params)
    },
    tx(lock, work) {
      counts.transactions++
      return database.tx(lock, work)
    },
  }
}
