import { randomUUID } from 'node:crypto'
import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  emptyCheckpoint,
  uuid6,
} from '@langchain/langgraph-checkpoint'
import { Command, MemorySaver } from '@langchain/langgraph'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Claim, RunStore } from '../../../src/runs/run-store.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { copyCheckpoints, pruneCheckpoints } from '../../../src/storage/sql/checkpoints/threads.ts'
import type { Checkpointers } from '../../../src/storage/sql/checkpoints/checkpointer.ts'
import type { Database, SqlValue } from '../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import {
  type Action,
  act,
  createAskingGraph,
  createRichGraph,
  historyOf,
  outlineOf,
} from '../../support/runs/checkpoint-graphs.ts'
import { endOf, started, TENANT } from '../../support/runs/run-store.ts'
import { describeCheckpoints } from '../../support/stores/broker.ts'
import { tries } from '../../support/properties.ts'
import { inLong } from '../../support/length.ts'

const TABLES = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']
const META = { source: 'loop' as const, step: 0, parents: {} }

const back = fc.nat({ max: 12 })
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('invoke' as const), n: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('resume' as const), with: fc.constantFrom('yes', 'no') }),
  fc.record({ do: fc.constant('update' as const), n: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('fork' as const), back, n: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('replay' as const), back }),
  fc.record({ do: fc.constant('copy' as const), back }),
)

describeCheckpoints('checkpoints', (engine, openCheckpointers) => {
  let database: Database
  let store: RunStore
  let checkpointers: Checkpointers
  let thread_id: string
  beforeEach(async () => {
    database = await engine.openRuns()
    store = createRunStore(database, systemClock)
    checkpointers = await openCheckpointers(database, TENANT)
    thread_id = await newThread()
  })
  const newThread = async (id = randomUUID()): Promise<string> => {
    await store.createThread(TENANT, { thread_id: id, metadata: {}, config: {}, ttl: null })
    return id
  }
  const ofNoRun = (): BaseCheckpointSaver => checkpointers.open(TENANT, null)
  const end = (claim: Claim) => store.finish(claim, endOf('success'))
  /** Every row of the thread, as stored. */
  const rows = async (id = thread_id): Promise<string[]> => {
    const found = await Promise.all(
      TABLES.map((table) => database.query(`SELECT * FROM ${table} WHERE thread_id = ?`, [id])),
    )
    return found
      .flat()
      .map((row) => JSON.stringify(row))
      .sort()
  }
  const put = (saver: BaseCheckpointSaver, id = uuid6(0), parent?: string) =>
    saver.put(
      {
        configurable: {
          thread_id,
          checkpoint_ns: '',
          ...(parent === undefined ? {} : { checkpoint_id: parent }),
        },
      },
      { ...emptyCheckpoint(), id, channel_values: { n: id }, channel_versions: { n: 1 } },
      META,
      { n: 1 },
    )

  it('returns the same states as the memory saver of LangGraph, after any actions on a thread', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 5 }), async (actions) => {
        const id = await newThread()
        const ours = createRichGraph(ofNoRun())
        const theirs = createRichGraph(new MemorySaver())
        for (const one of actions)
          expect([one, await act(ours, id, one)]).toEqual([one, await act(theirs, id, one)])
        expect(await outlineOf(ours, id)).toEqual(await outlineOf(theirs, id))
      }),
      tries(engine.name === 'SQLite' ? 8 : 3),
    )
  })

  inLong(() => {
    it('separates the values of forks, though their versions are the same', async () => {
      const graph = createRichGraph(ofNoRun())
      await act(graph, thread_id, { do: 'invoke', n: 0 })
      const before = await historyOf(graph, thread_id)
      await act(graph, thread_id, { do: 'fork', back: 3, n: 30 })
      const after = await historyOf(graph, thread_id)
      expect(after.length).toBeGreaterThan(before.length)
      expect(after.slice(-before.length)).toEqual(before)
    })
  })

  it('stores only changes, and nothing twice', async () => {
    const saver = ofNoRun()
    const long = 'x'.repeat(1_000)
    const first = emptyCheckpoint()
    const values = { long, n: 1 }
    const config = await saver.put(
      { configurable: { thread_id } },
      { ...first, channel_values: values, channel_versions: { long: 1, n: 1 } },
      META,
      { long: 1, n: 1 },
    )
    const second = {
      ...emptyCheckpoint(),
      channel_values: { long, n: 2 },
      channel_versions: { long: 1, n: 2 },
    }
    const last = await saver.put(config, second, META, { n: 2 })
    expect((await rows()).filter((row) => row.includes(long))).toHaveLength(1)
    // Another process, which has not read the write of the parent.
    const elsewhere = (await openCheckpointers(database, TENANT)).open(TENANT, null)
    const third = {
      ...emptyCheckpoint(),
      channel_values: { long, n: 3 },
      channel_versions: { long: 1, n: 3 },
    }
    await elsewhere.put(last, third, META, { n: 3 })
    expect((await elsewhere.getTuple({ configurable: { thread_id } }))?.checkpoint.channel_values).toEqual({
      long,
      n: 3,
    })
    expect((await rows()).filter((row) => row.includes(long))).toHaveLength(1)
  })

  describe('fencing', () => {
    it('RUN-14: refuses a run whose lease is lost: nothing is written', async () => {
      const claim = await started(store, thread_id)
      const saver = checkpointers.open(TENANT, claim)
      const config = await put(saver)
      const before = await rows()
      expect(before.every((row) => row.includes(claim.run_id))).toBe(true)
      await end(claim)
      await expect(put(saver)).rejects.toMatchObject({ code: 'conflict' })
      await expect(saver.putWrites(config, [['n', 1]], 'task')).rejects.toMatchObject({ code: 'conflict' })
      expect(await rows()).toEqual(before)
    })

    it('refuses another token, and the lease of another thread or tenant', async () => {
      const claim = await started(store, thread_id)
      const other = await newThread()
      const stranger = { ...TENANT, deployment_id: 'other' }
      const wrong = [
        checkpointers.open(TENANT, { ...claim, token: 'other' }),
        (await openCheckpointers(database, stranger)).open(stranger, claim),
      ]
      for (const saver of wrong) await expect(put(saver)).rejects.toMatchObject({ code: 'conflict' })
      const elsewhere = { configurable: { thread_id: other } }
      const saver = checkpointers.open(TENANT, claim)
      await expect(saver.put(elsewhere, emptyCheckpoint(), META, {})).rejects.toMatchObject({
        code: 'conflict',
      })
      expect([...(await rows()), ...(await rows(other))]).toEqual([])
    })

    it('allows the update of a state only while the thread exists and has no active run', async () => {
      await put(ofNoRun())
      const claim = await started(store, thread_id)
      await expect(put(ofNoRun())).rejects.toMatchObject({ code: 'thread_busy', status: 409 })
      await end(claim)
      await put(ofNoRun())
      await store.deleteThreads(TENANT, [thread_id], 'nothing')
      await expect(put(ofNoRun())).rejects.toMatchObject({ code: 'not_found' })
      expect(await rows()).toEqual([])
    })

    inLong(() => {
      it('refuses one run without effect on others that write at the same time', async () => {
        const claims = await Promise.all(Array.from({ length: 12 }, () => started(store, randomUUID())))
        const lost = new Set(claims.filter((_, i) => i % 3 === 0))
        for (const claim of lost) await end(claim)
        const outcomes = await Promise.allSettled(
          claims.map((claim) => {
            const config = { configurable: { thread_id: claim.thread_id } }
            return checkpointers.open(TENANT, claim).put(config, emptyCheckpoint(), META, {})
          }),
        )
        expect(outcomes.map(({ status }) => status)).toEqual(
          claims.map((claim) => (lost.has(claim) ? 'rejected' : 'fulfilled')),
        )
        for (const claim of claims) expect(await rows(claim.thread_id)).toHaveLength(lost.has(claim) ? 0 : 1)
      })
    })
  })

  it.each<Action[]>([
    [{ do: 'invoke', n: 0 }],
    [{ do: 'resume', with: 'yes' }],
    [{ do: 'fork', back: 4, n: 30 }],
    [
      { do: 'resume', with: 'yes' },
      { do: 'resume', with: 'no' },
    ],
  ])('restores state and history byte for byte when a run is rolled back that did %j', async (...actions) => {
    const first = await started(store, thread_id)
    await act(createRichGraph(checkpointers.open(TENANT, first)), thread_id, { do: 'invoke', n: 1 })
    await end(first)
    const [before, states] = [await rows(), await historyOf(createRichGraph(ofNoRun()), thread_id)]
    const claim = await started(store, thread_id)
    const graph = createRichGraph(checkpointers.open(TENANT, claim))
    for (const one of actions) expect(await act(graph, thread_id, one)).toBe('done')
    expect(await rows()).not.toEqual(before)
    await store.rollback(claim)
    expect(await rows()).toEqual(before)
    expect(await historyOf(createRichGraph(ofNoRun()), thread_id)).toEqual(states)
  })

  inLong(() => {
    it('lists by namespace, id, limit, before and metadata, newest first', async () => {
      const saver = ofNoRun()
      const ids = [uuid6(0), uuid6(1), uuid6(2), uuid6(3)]
      for (const [i, id] of ids.entries()) {
        const metadata = { ...META, step: i, deep: { odd: i % 2 === 1, list: [i, 'x'] } }
        await saver.put(
          { configurable: { thread_id, checkpoint_ns: '' } },
          { ...emptyCheckpoint(), id },
          metadata,
          {},
        )
      }
      const found = async (options: object, configurable: object = {}): Promise<number[]> => {
        const steps: number[] = []
        for await (const { checkpoint } of saver.list(
          { configurable: { thread_id, ...configurable } },
          options,
        )) {
          steps.push(ids.indexOf(checkpoint.id))
        }
        return steps
      }
      const before = { configurable: { checkpoint_id: ids[2] } }
      expect(await found({})).toEqual([3, 2, 1, 0])
      expect(await found({ limit: 2 })).toEqual([3, 2])
      expect(await found({ limit: 0 })).toEqual([])
      expect(await found({ before })).toEqual([1, 0])
      expect(await found({ before, limit: 1, filter: { deep: { odd: false } } })).toEqual([0])
      expect(await found({ filter: { deep: { odd: true } } })).toEqual([3, 1])
      expect(await found({ filter: { deep: { list: [2] } } })).toEqual([2])
      expect(await found({ filter: { step: '1' } })).toEqual([])
      expect(await found({}, { checkpoint_ns: 'other' })).toEqual([])
      expect(await found({}, { checkpoint_id: ids[1] })).toEqual([1])
    })

    it('reads the remaining state when a run is rolled back while its checkpoint is read', async () => {
      const first = await started(store, thread_id)
      const kept = await put(checkpointers.open(TENANT, first))
      await end(first)
      for (const read of ['getTuple', 'list'] as const) {
        const claim = await started(store, thread_id)
        await put(checkpointers.open(TENANT, claim))
        let isRolledBack = false
        const interrupted: Database = {
          ...database,
          async query<Row>(sql: string, params?: readonly SqlValue[]) {
            if (sql.includes('checkpoint_blobs') && !isRolledBack) {
              isRolledBack = true
              await store.rollback(claim)
            }
            return await database.query<Row>(sql, params)
          },
        }
        const saver = (await openCheckpointers(interrupted, TENANT)).open(TENANT, null)
        const { value } =
          read === 'getTuple'
            ? { value: await saver.getTuple({ configurable: { thread_id } }) }
            : await saver.list({ configurable: { thread_id } }).next()
        expect((value as CheckpointTuple | undefined)?.config).toEqual(kept)
      }
    })

    it('puts metadata of the config and the id of the run under that of each checkpoint', async () => {
      const claim = await started(store, thread_id)
      const saver = checkpointers.open(TENANT, claim)
      const metadata = { user: 'u', step: 99, __own: 1, langgraph_node: 'n', thread_id: 't' }
      const config = { configurable: { thread_id }, metadata }
      const stored = await saver.put(config, emptyCheckpoint(), META, {})
      expect((await saver.getTuple(stored))?.metadata).toEqual({ ...META, user: 'u', run_id: claim.run_id })
    })

    it('keeps tenants apart', async () => {
      await put(ofNoRun())
      const tenant = { ...TENANT, workspace_id: 'other' }
      const other = (await openCheckpointers(database, tenant)).open(tenant, null)
      expect(await other.getTuple({ configurable: { thread_id } })).toBeUndefined()
      expect((await other.list({ configurable: { thread_id } }).next()).done).toBe(true)
      // The broker refuses to delete any thread.
      const code = await other.deleteThread(thread_id).then(
        () => undefined,
        (error: { code: string }) => error.code,
      )
      expect([undefined, 'forbidden']).toContain(code)
      expect(await rows()).toHaveLength(2)
    })
  })

  it('copies a thread: the same states, without a run, and changes of one do not affect the other', async () => {
    const first = await started(store, thread_id)
    await act(createRichGraph(checkpointers.open(TENANT, first)), thread_id, { do: 'invoke', n: 1 })
    await end(first)
    const second = await started(store, thread_id)
    await act(createRichGraph(checkpointers.open(TENANT, second)), thread_id, { do: 'resume', with: 'yes' })
    await end(second)
    const graph = createRichGraph(ofNoRun())
    const outline = await outlineOf(graph, thread_id)
    const copy = await newThread()
    await database.tx('copy', (session) => copyCheckpoints(session, TENANT, thread_id, copy))
    expect(await outlineOf(graph, copy)).toEqual(outline)
    const third = await started(store, copy)
    await act(createRichGraph(checkpointers.open(TENANT, third)), copy, { do: 'resume', with: 'no' })
    expect(await outlineOf(graph, copy)).not.toEqual(outline)
    await store.rollback(third)
    expect(await outlineOf(graph, copy)).toEqual(outline)
    expect(await outlineOf(graph, thread_id)).toEqual(outline)
  })

  it('prunes to the latest state, from which the graph continues', async () => {
    const graph = createRichGraph(ofNoRun())
    const whole = await newThread()
    for (const id of [thread_id, whole]) await act(graph, id, { do: 'invoke', n: 1 })
    const [latest] = await outlineOf(graph, thread_id)
    await database.tx('prune', (session) => pruneCheckpoints(session, TENANT, thread_id))
    const [left, ...more] = await outlineOf(graph, thread_id)
    expect(more).toEqual([])
    expect(left).toEqual({ ...latest, parent: -1 })
    for (const answer of ['yes', 'no']) {
      for (const id of [thread_id, whole])
        expect(await act(graph, id, { do: 'resume', with: answer })).toBe('done')
    }
    const [ends, wholeEnds] = [await outlineOf(graph, thread_id), await outlineOf(graph, whole)]
    expect(ends[0]).toEqual(wholeEnds[0])
    expect((await rows()).length).toBeLessThan((await rows(whole)).length / 2)
  })

  inLong(() => {
    it('prunes finished subgraphs, and keeps the one that waits', async () => {
      const graph = createAskingGraph(ofNoRun())
      const config = { configurable: { thread_id } }
      await graph.invoke({ log: [] }, config)
      await graph.invoke(new Command({ resume: 'first' }), config)
      await graph.invoke({ log: [] }, config)
      await database.tx('prune', (session) => pruneCheckpoints(session, TENANT, thread_id))
      const places = 'SELECT checkpoint_ns FROM checkpoints WHERE thread_id = ?'
      const left = await database.query(places, [thread_id])
      expect(left).toHaveLength(2)
      const { log } = await graph.invoke(new Command({ resume: 'second' }), config)
      expect(log).toEqual(['before', 'first', 'before', 'second'])
    })
  })
})
