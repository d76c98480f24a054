import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { RunStore } from '../../../../src/runs/run-store.ts'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../../src/storage/sql/runs/run-store.ts'
import { admissionOf, admitted, claimedOne, endOf, TENANT } from '../../../support/runs/run-store.ts'
import { testClock } from '../../../support/faults/test-clock.ts'
import { describeOnSql } from '../../../support/stores/sql/sql-databases.ts'

const ASSISTANT = { assistant_id: 'assistant' }

describeOnSql('A2A tasks', (engine) => {
  let database: Database
  let store: RunStore
  let thread_id: string
  let task_id: string
  beforeEach(async () => {
    database = await engine.openRuns()
    store = createRunStore(
      database,
      testClock(() => 1_700_000_000_000),
    )
    thread_id = randomUUID()
    task_id = `${thread_id}:${randomUUID()}`
  })
  const runOf = async (task: string, place = thread_id): Promise<string> =>
    (await admitted(store, admissionOf(place, { run: { metadata: { a2a: { task_id: task } } } }))).run.run_id

  it('A2A-4: a run takes no task of another thread, and no text that is the id of none', async () => {
    const run_id = await runOf(task_id)
    const other = randomUUID()
    const foreign = [task_id, `${other}:`, `${other}:\0`, 'x'.repeat(10_000)]
    for (const task of foreign) await runOf(task, other)
    expect(await store.tasks(TENANT, ASSISTANT)).toMatchObject([{ task_id, thread_id, run_id }])
    expect(await store.taskRun(TENANT, other, task_id)).toBeUndefined()
  })

  it('A2A-6: the state of a thread is read with the newest run, and the active runs of the task are told', async () => {
    const first = await runOf(task_id)
    await store.finish(await claimedOne(store), endOf('success'))
    expect(await store.taskRun(TENANT, thread_id, task_id)).toMatchObject({
      run: { run_id: first, status: 'success' },
      is_last: true,
      thread_status: 'idle',
      active_run_ids: [],
    })
    const [running, waiting] = [await runOf(task_id), await runOf(task_id)]
    await claimedOne(store)
    await runOf(`${thread_id}:${randomUUID()}`)
    expect(await store.taskRun(TENANT, thread_id, task_id)).toMatchObject({
      run: { run_id: waiting },
      is_last: false,
      thread_status: 'busy',
      active_run_ids: [running, waiting],
    })
  })
})
