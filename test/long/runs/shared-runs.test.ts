import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { createLogger } from '../../../src/base/log.ts'
import type { Wake, WakeMessage } from '../../../src/runs/execute/wake.ts'
import { EVERYTHING } from '../../../src/runs/streams-v2/filter.ts'
import { createEventWire } from '../../../src/storage/sql/events/wire.ts'
import { openRunDatabase } from '../../../src/storage/sql/driver/open-run-database.ts'
import { createPostgresWake } from '../../../src/storage/sql/driver/postgres/wake.ts'
import { eventually } from '../../support/eventually.ts'
import { doneWith } from '../../support/runs/hosts/fake-graph-host.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import {
  openRunState,
  openRunWorld,
  type RunWorld,
  staying,
  type WorldOptions,
} from '../../support/runs/world.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const REQUEST = { assistant_id: 'agent', input: null }
const INTERRUPT = { action: 'interrupt', wait: true, early: false } as const

interface Server extends RunWorld {
  /** Notifications received from the other servers. */
  readonly heard: readonly WakeMessage[]
}

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`servers that share their runs in Postgres${reason}`, () => {
  const databases = postgresDatabases()

  /** A server on the database at `url`, which receives the notifications of the others. */
  async function openServer(url: string, options: WorldOptions = {}): Promise<Server> {
    const database = await openRunDatabase({ url, file: '' })
    const logger = createLogger({ level: 'silent' })
    const wake = createPostgresWake({ url, database, logger, retryMs: 10 })
    await new Promise<void>((connected) => wake.listen(() => connected()))
    const heard: WakeMessage[] = []
    const listen: Wake['listen'] = (listener) =>
      wake.listen((message) => {
        listener(message)
        heard.push(message)
      })
    const state = openRunState(database, createEventWire({ url, logger }))
    onTestFinished(async () => {
      await wake.close()
      await state.close()
      await database.close()
    })
    return { ...(await openRunWorld({ ...options, wake: { ...wake, listen }, state })), heard }
  }

  async function openUrl(): Promise<string> {
    const url = await databases.take()
    onTestFinished(() => databases.giveBack(url))
    return url
  }

  /** Two servers. Only the second has room for runs, so it executes those that clients create at the first. */
  async function openPair(options: WorldOptions = {}): Promise<[asked: Server, executing: Server]> {
    const url = await openUrl()
    const asked = await openServer(url, { ...options, concurrency: 0 })
    return [asked, await openServer(url, options)]
  }

  it('CANCEL-10: wait, join and cancel, whichever server executes the run', async () => {
    const [asked, executing] = await openPair()
    const { run, result } = await asked.runs.wait(asked.call, await asked.thread(), REQUEST, staying())
    ;(await executing.fake.job(run.run_id)).end(doneWith('over there'))
    expect(await result).toBe('"over there"')
    const second = await asked.runs.wait(asked.call, run.thread_id, REQUEST, staying())
    const { run_id } = second.run
    await executing.fake.job(run_id)
    await asked.runs.cancel(asked.call, run.thread_id, run_id, INTERRUPT)
    expect((await asked.runs.get(asked.call, run.thread_id, run_id)).status).toBe('interrupted')
    await second.result
    const third = await asked.runs.create(asked.call, run.thread_id, REQUEST)
    await executing.fake.job(third.run_id)
    await asked.runs.cancel(asked.call, run.thread_id, third.run_id, { ...INTERRUPT, action: 'rollback' })
    await expect(asked.runs.get(asked.call, run.thread_id, third.run_id)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('return the result of a stateless run, whichever server executes it, and then remove its thread', async () => {
    const [asked, executing] = await openPair()
    executing.fake.play((job) => job.end(doneWith(job.job.run.run_id)))
    const waits = await Promise.all(
      Array.from({ length: 20 }, () => asked.runs.wait(asked.call, null, REQUEST, staying())),
    )
    const results = await Promise.all(waits.map(({ result }) => result))
    expect(results).toEqual(waits.map(({ run }) => JSON.stringify(run.run_id)))
    await eventually(async () => {
      const { threads } = await asked.threads.search(asked.call, {
        sort_by: 'created_at',
        sort_order: 'asc',
        limit: 100,
        offset: 0,
      })
      expect(threads).toEqual([])
    })
  })

  it('one applies an early cancel that another one received', async () => {
    const [asked, executing] = await openPair()
    const thread_id = await asked.thread()
    const run_id = newUuid()
    await asked.runs.cancel(asked.call, thread_id, run_id, { action: 'interrupt', wait: false, early: true })
    const cancel = expect.objectContaining({ kind: 'early_cancel', run_id })
    await eventually(async () => expect(executing.heard).toContainEqual(cancel))
    await executing.runs.create(executing.call, thread_id, { ...REQUEST, run_id })
    await eventually(async () =>
      expect((await asked.runs.get(asked.call, thread_id, run_id)).status).toBe('interrupted'),
    )
  })

  it('V-29: a client whose connection to one broke before the end of a run has that end from another one, once', async () => {
    const [asked, executing] = await openPair()
    const { call } = asked
    const thread_id = await asked.thread()
    const begin = async (): Promise<[run_id: string, end: () => void]> => {
      const { run_id } = await asked.runs.create(call, thread_id, REQUEST)
      const job = await executing.fake.job(run_id)
      job.items(['metadata', { run_id, attempt: 1 }])
      return [run_id, () => job.end(doneWith(1))]
    }
    /** Follows the thread until the connection breaks at the event `last`. Returns the ids of the events. */
    const shown = async ({ streams }: Server, last: string): Promise<string[]> => {
      const gone = new AbortController()
      const following = { filter: EVERYTHING, after: undefined, gone: gone.signal }
      const stream = await streams.followThread(call, thread_id, following)
      const ids: string[] = []
      for await (const items of stream.batches) {
        ids.push(...items.flatMap((item) => ('event_id' in item ? [item.event_id] : [])))
        if (ids.includes(last)) gone.abort()
      }
      stream.close()
      return ids
    }
    const idOf = (run_id: string, event: string): string => `synth:${run_id}:lc||${event}`

    const [first, end] = await begin()
    await shown(asked, idOf(first, 'running'))
    const unseen = expect.objectContaining({ kind: 'unseen_ends', run_ids: [first] })
    await eventually(async () => expect(executing.heard).toContainEqual(unseen))
    end()
    const [second] = await begin()
    const ids = await shown(executing, idOf(second, 'running'))
    expect([ids[0], ids.at(-1)]).toEqual([idOf(first, 'running'), idOf(second, 'running')])
    const seen = expect.objectContaining({ kind: 'seen_end', run_id: first })
    await eventually(async () => expect(asked.heard).toContainEqual(seen))
    expect((await shown(asked, idOf(second, 'running')))[0]).toBe(idOf(second, 'running'))
  })

  it('RUN-14: one recovers the runs of another that stops renewing, whose writes are then refused', async () => {
    const url = await openUrl()
    const silent = await openServer(url, { lease_ms: 300, stubborn: true })
    const thread_id = await silent.thread()
    const run = await silent.runs.create(silent.call, thread_id, REQUEST)
    const left = await silent.fake.job(run.run_id)
    silent.store.renew = () => new Promise(() => undefined)
    // This server has the default lease, which is long enough for a busy machine.
    const alive = await openServer(url)
    const taken = await alive.fake.job(run.run_id, 2)
    left.end(doneWith('too late'))
    taken.end(doneWith('in time'))
    await eventually(async () =>
      expect((await alive.threads.get(alive.call, thread_id)).values_json).toBe('"in time"'),
    )
    expect(await alive.runs.get(alive.call, thread_id, run.run_id)).toMatchObject({
      status: 'success',
      attempt: 2,
    })
  })

  it('leave runs of graphs that they do not have to another one, also those that become due later', async () => {
    const url = await openUrl()
    const without = await openServer(url, { graphs: ['other'] })
    const having = await openServer(url, { graphs: ['agent', 'other'] })
    having.fake.play((job) => job.end(doneWith('there')))
    const { result } = await without.runs.wait(without.call, null, REQUEST, staying())
    expect(await result).toBe('"there"')
    const later = { ...REQUEST, after_seconds: 1 }
    const delayed = await without.runs.wait(without.call, await without.thread(), later, staying())
    expect(await delayed.result).toBe('"there"')
    expect(without.fake.jobs).toEqual([])
  })

  it('share the work: none of many runs is executed twice or never', async () => {
    const url = await openUrl()
    const servers = [
      await openServer(url, { concurrency: 4 }),
      await openServer(url, { concurrency: 4 }),
    ] as const
    for (const { fake } of servers) fake.play((job) => setTimeout(() => job.end(doneWith(1)), 5))
    const waits = await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const { runs, call } = servers[n % 2] ?? servers[0]
        return runs.wait(call, null, { ...REQUEST, on_completion: 'keep' }, staying())
      }),
    )
    await Promise.all(waits.map(({ result }) => result))
    const executed = servers.flatMap(({ fake }) => fake.jobs.map(({ job }) => job.run.run_id))
    expect(executed.sort()).toEqual(waits.map(({ run }) => run.run_id).sort())
    expect(servers.every(({ fake }) => fake.jobs.length > 0)).toBe(true)
  })
})
