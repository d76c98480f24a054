import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { Run } from '../../../src/runs/model.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { readUse } from '../../../src/storage/sql/workspace-use.ts'
import { doneWith } from '../../support/runs/hosts/fake-graph-host.ts'
import { addCheckpoint } from '../../support/runs/run-store.ts'
import { has, watch } from '../../support/runs/streams/watched-stream.ts'
import {
  openRunState,
  openRunWorld,
  type RunWorld,
  staying,
  type WorldOptions,
} from '../../support/runs/world.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }
const GONE = { code: 'not_found' }
const ALL = { sort_by: 'created_at', sort_order: 'desc', limit: 10, offset: 0 } as const
const TABLES = [
  'threads',
  'runs',
  'thread_states',
  'checkpoints',
  'checkpoint_blobs',
  'checkpoint_writes',
  'crons',
]

describeOnSql('D-63: a stateless run', (engine) => {
  let database: Database
  beforeEach(async () => {
    database = await engine.openRuns()
  })

  async function openWorld(options: WorldOptions = {}): Promise<RunWorld> {
    const state = openRunState(database)
    onTestFinished(() => state.close())
    return openRunWorld({ ...options, state })
  }

  /** Nothing is left of the run but its stream. */
  async function expectGone(
    { store, threads, runs, call }: RunWorld,
    run: Pick<Run, 'run_id' | 'thread_id'>,
  ) {
    await expect(threads.get(call, run.thread_id)).rejects.toMatchObject(GONE)
    await expect(threads.state(call, run.thread_id, { subgraphs: false })).rejects.toMatchObject(GONE)
    await expect(runs.get(call, null, run.run_id)).rejects.toMatchObject(GONE)
    expect(await threads.search(call, ALL)).toEqual({ threads: [], total: 0 })
    expect(await store.listRuns(call.tenant, null, { limit: 10, offset: 0 })).toEqual({
      runs: [],
      more: false,
    })
    for (const table of TABLES) expect(await database.query(`SELECT * FROM ${table}`), table).toEqual([])
    expect((await readUse(database, call.tenant)).threads).toBe(0)
  }

  it('is gone with its thread and checkpoints as soon as it is answered', async () => {
    const world = await openWorld()
    const { runs, call, fake } = world
    const { run, result } = await runs.wait(call, null, REQUEST, staying())
    const job = await fake.job(run.run_id)
    await addCheckpoint(database, job.job.lease, 'c1')
    job.end(doneWith(7))
    expect(await result).toBe('7')
    await expectGone(world, run)
  })

  it('is gone when it fails, is interrupted, is rolled back, or is cancelled before it begins', async () => {
    const world = await openWorld()
    const { runs, call, fake } = world
    const options = { wait: true, early: false } as const
    const failed = await runs.wait(call, null, REQUEST, staying())
    ;(await fake.job(failed.run.run_id)).end({
      kind: 'failed',
      error: 'ValueError',
      message: 'no',
      retryable: false,
      state: undefined,
    })
    expect(JSON.parse(await failed.result)).toEqual({ __error__: { error: 'ValueError', message: 'no' } })
    await expectGone(world, failed.run)
    for (const action of ['interrupt', 'rollback'] as const) {
      for (const after_seconds of [0, 60]) {
        const { run, result } = await runs.wait(call, null, { ...REQUEST, after_seconds }, staying())
        if (after_seconds === 0) await fake.job(run.run_id)
        await runs.cancel(call, null, run.run_id, { ...options, action })
        const answer = JSON.parse(await result) as Record<string, unknown>
        expect(Object.keys(answer)).toEqual(action === 'rollback' ? ['__error__'] : [])
        await expectGone(world, run)
      }
    }
  })

  it('has its stream for its caller alone, also on another server and after a restart', async () => {
    const world = await openWorld()
    const { streams, call, fake } = world
    fake.play((job) => {
      job.items(['metadata', {}], ['values', 1], ['values', 2])
      job.end(doneWith(2))
    })
    const { run, stream } = await streams.create(call, null, REQUEST, staying())
    const seen = watch(stream)
    await seen.ended
    await expectGone(world, run)
    const other = await openWorld()
    const joining = { modes: null, gone: staying(), cancel_on_disconnect: false, from: 'start' } as const
    const again = watch(await other.streams.joinRun(call, null, run.run_id, joining))
    await again.ended
    expect(again.events).toEqual(seen.events)
    const from = { after: seen.ids[1] ?? '' }
    const rest = watch(await other.streams.joinRun(call, null, run.run_id, { ...joining, from }))
    await rest.ended
    expect(rest.events).toEqual(seen.events.slice(2))
    const stranger = { ...call, caller: { ...call.caller, api_key_id: newUuid() } }
    await expect(other.streams.joinRun(stranger, null, run.run_id, joining)).rejects.toMatchObject(GONE)
    const thread = { from: 'start', modes: ['run_modes'], gone: staying() } as const
    await expect(other.streams.joinThread(call, run.thread_id, thread)).rejects.toMatchObject(GONE)
  })

  it('ends the streams of its thread with it', async () => {
    const { streams, runs, call, fake } = await openWorld()
    const run = await runs.create(call, null, REQUEST)
    const job = await fake.job(run.run_id)
    const joining = { from: 'now', modes: ['run_modes'], gone: staying() } as const
    const seen = watch(await streams.joinThread(call, run.thread_id, joining))
    job.items(['values', 1])
    await has(seen, 1)
    job.end(doneWith(1))
    await seen.ended
  })

  it('has its webhook, and waits for a later run of its thread', async () => {
    const world = await openWorld()
    const { runs, call, fake, threads } = world
    const webhook = 'https://example.com/done'
    const run = await runs.create(call, null, { ...REQUEST, webhook })
    const job = await fake.job(run.run_id)
    const second = await runs.wait(call, run.thread_id, REQUEST, staying())
    job.end(doneWith(1))
    const next = await fake.job(second.run.run_id)
    expect((await threads.get(call, run.thread_id)).values_json).toBe('1')
    next.end(doneWith(2))
    expect(await second.result).toBe('2')
    await expectGone(world, second.run)
    const due = await database.query('SELECT run_id, run_values FROM webhooks WHERE due_at IS NOT NULL')
    expect(due).toEqual([{ run_id: run.run_id, run_values: '1' }])
  })

  it('is gone after its last attempt when its server was killed', async () => {
    const rules = { max_attempts: 1 }
    const killed = await openWorld({ owner: 'one', lease_ms: 600_000 })
    const run = await killed.runs.create(killed.call, null, REQUEST)
    await killed.fake.job(run.run_id)
    await expectGone(await openWorld({ owner: 'one', rules }), run)
  })

  it('stays with on_completion: keep', async () => {
    const { runs, threads, call, fake } = await openWorld()
    fake.play((job) => job.end(doneWith(7)))
    const { run, result } = await runs.wait(call, null, { ...REQUEST, on_completion: 'keep' }, staying())
    await result
    expect((await threads.get(call, run.thread_id)).values_json).toBe('7')
    expect((await runs.get(call, null, run.run_id)).status).toBe('success')
  })
})
