import { randomUUID } from 'node:crypto'
import { type BaseCheckpointSaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { v6 } from '@langchain/core/utils/uuid'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import type { Claim, RunStore } from '../../../src/runs/run-store.ts'
import { copyCheckpoints, pruneCheckpoints } from '../../../src/storage/sql/checkpoints/threads.ts'
import type { Checkpointers } from '../../../src/storage/sql/checkpoints/checkpointer.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { endOf, started, TENANT } from '../../support/runs/run-store.ts'
import { describeCheckpoints } from '../../support/stores/broker.ts'

const SCAN = { checkpoint_id: undefined, before: undefined }
const META = { source: 'loop' as const, step: 0, parents: {} }

describeCheckpoints('the order of checkpoints', (engine, openCheckpointers) => {
  let database: Database
  let store: RunStore
  let checkpointers: Checkpointers
  let thread_id: string
  beforeEach(async () => {
    database = await engine.openRuns()
    store = createRunStore(database, systemClock)
    checkpointers = await openCheckpointers(database, TENANT)
    thread_id = randomUUID()
    await store.createThread(TENANT, { thread_id, metadata: {}, config: {}, ttl: null })
  })
  const ofNoRun = (): BaseCheckpointSaver => checkpointers.open(TENANT, null)
  const end = (claim: Claim) => store.finish(claim, endOf('success'))
  const put = (saver: BaseCheckpointSaver, id = uuid6(0), parent?: string) => {
    const of = parent === undefined ? {} : { checkpoint_id: parent }
    const checkpoint = { ...emptyCheckpoint(), id, channel_values: { n: id }, channel_versions: { n: 1 } }
    return saver.put({ configurable: { thread_id, checkpoint_ns: '', ...of } }, checkpoint, META, { n: 1 })
  }

  it('returns the last checkpoint as the newest, also after a clock was set back', async () => {
    const times = [100, 200, 300, 50, 60, 250, 10, 20]
    const ids = times.map((ms) => v6({ msecs: 1_700_000_000_000 + ms, nsecs: 0, clockseq: 1 }))
    let parent: string | undefined
    for (const id of ids) {
      await put(ofNoRun(), id, parent)
      parent = id
      expect((await ofNoRun().getTuple({ configurable: { thread_id } }))?.checkpoint.id).toBe(id)
    }
    const newestFirst = ids.toReversed()
    const config = { configurable: { thread_id, checkpoint_ns: '' } }
    const listed = async (of: object, options: object = {}): Promise<string[]> => {
      const found: string[] = []
      for await (const { checkpoint } of ofNoRun().list(of, options)) found.push(checkpoint.id)
      return found
    }
    expect(await listed(config)).toEqual(newestFirst)
    expect(await listed(config, { limit: 3 })).toEqual(newestFirst.slice(0, 3))
    for (const [at, id] of newestFirst.entries()) {
      const before = { configurable: { checkpoint_id: id } }
      expect(await listed(config, { before })).toEqual(newestFirst.slice(at + 1))
    }
    const marks = await checkpointers.marks(TENANT, { ...SCAN, thread_id, limit: 5 })
    expect(marks.map(({ checkpoint_id }) => checkpoint_id)).toEqual(newestFirst.slice(0, 5))
    const copy = randomUUID()
    await database.tx('copy', (session) => copyCheckpoints(session, TENANT, thread_id, copy))
    expect(await listed({ configurable: { thread_id: copy, checkpoint_ns: '' } })).toEqual(newestFirst)
    await database.tx('prune', (session) => pruneCheckpoints(session, TENANT, thread_id))
    expect(await listed(config)).toEqual(newestFirst.slice(0, 1))
  })

  it('keeps the order of checkpoints that are stored together', async () => {
    const ids = [300, 100, 200].map((ms) => v6({ msecs: 1_700_000_000_000 + ms, nsecs: 0, clockseq: 1 }))
    await Promise.all(ids.map((id) => put(ofNoRun(), id)))
    expect((await ofNoRun().getTuple({ configurable: { thread_id } }))?.checkpoint.id).toBe(ids[2])
  })

  it('keeps the order of checkpoints that are stored together, around the newest earlier one', async () => {
    const idAt = (ms: number): string => v6({ msecs: 1_700_000_000_000 + ms, nsecs: 0, clockseq: 1 })
    const [first, newest, last] = [100, 200, 300].map(idAt)
    await put(ofNoRun(), newest)
    await Promise.all([first, last].map((id) => put(ofNoRun(), id)))
    expect((await ofNoRun().getTuple({ configurable: { thread_id } }))?.checkpoint.id).toBe(last)
  })

  it('keeps the order of checkpoints that are stored together with one that is put again', async () => {
    const idAt = (ms: number): string => v6({ msecs: 1_700_000_000_000 + ms, nsecs: 0, clockseq: 1 })
    const [old, next, newest, last] = [100, 200, 250, 300].map(idAt)
    await put(ofNoRun(), old)
    await put(ofNoRun(), newest)
    await Promise.all([old, next, last].map((id) => put(ofNoRun(), id)))
    expect((await ofNoRun().getTuple({ configurable: { thread_id } }))?.checkpoint.id).toBe(last)
  })

  it('uses the last special write of a task, also after a clock was set back', async () => {
    await put(ofNoRun(), uuid6(0))
    const { checkpoint } = (await ofNoRun().getTuple({ configurable: { thread_id } })) ?? {}
    const config = { configurable: { thread_id, checkpoint_ns: '', checkpoint_id: checkpoint?.id } }
    const now = vi.spyOn(Date, 'now')
    onTestFinished(() => now.mockRestore())
    const clock = Date.now()
    for (const n of [1, 2, 3]) {
      const claim = await started(store, thread_id)
      // Each time another process writes, and its clock is an hour behind that of the process before.
      now.mockReturnValue(clock - n * 3_600_000)
      const saver = (await openCheckpointers(database, TENANT)).open(TENANT, claim)
      await saver.putWrites(
        config,
        [
          ['__resume__', n],
          ['n', n],
        ],
        'task',
      )
      now.mockReturnValue(clock)
      await end(claim)
    }
    const found = await ofNoRun().getTuple({ configurable: { thread_id } })
    expect(found?.pendingWrites).toEqual([
      ['task', '__resume__', 3],
      ['task', 'n', 1],
    ])
  })
})
