import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { AppError } from '../../base/errors.ts'
import { createLogger } from '../../base/log.ts'
import { createCronStore } from '../../storage/sql/runs/cron-store.ts'
import { openRunDatabase } from '../../storage/sql/driver/open-run-database.ts'
import { type Crons, type CronRequest, type CronsDeps, startCrons } from './crons.ts'
import type { Cron, DueCron } from './store.ts'
import type { Tenant } from '../model.ts'
import type { CronDate } from '../run-store.ts'
import type { Call, RunRequest } from '../runs.ts'
import { settableClock } from '../../../test/support/faults/test-clock.ts'

const NOW = Date.parse('2026-11-20T09:00:30Z')
const TENANT = { workspace_id: 'w', deployment_id: 'd' }
const CALL: Call = { tenant: TENANT, caller: { user_id: 'ada', api_key_id: 'key' }, headers: { 'x-a': '1' } }
const EVERY_MINUTE: CronRequest = { schedule: '* * * * *', payload: { assistant_id: 'agent' } }

interface Made {
  call: Call
  thread_id: string | null
  request: RunRequest
}

/** Opens crons with a store in memory and a clock that the test sets; runs are recorded, not executed. */
async function openCrons() {
  const database = await openRunDatabase({ url: undefined, file: ':memory:' })
  onTestFinished(() => database.close())
  const clock = settableClock(NOW)
  const made: Made[] = []
  let refusal: AppError | undefined
  let looks = 0
  const store = createCronStore(database, clock)
  const dueOf = (tenant: Tenant, cron: CronDate | undefined): DueCron => {
    const about = { cron_id: cron?.cron_id, next_run_date: cron?.due_at } as Cron
    return { ...tenant, cron: about }
  }
  const deps = {
    store,
    runsOf: () => ({
      create: async (call: Call, thread_id: string | null, request: RunRequest) => {
        if (refusal !== undefined) throw refusal
        const { cron, ...rest } = call
        if (!(await store.advance(dueOf(rest.tenant, cron), cron?.next ?? null)))
          throw new AppError('conflict')
        made.push({ call: rest, thread_id, request })
      },
    }),
    threads: { get: async () => undefined },
    findAssistant: async () => ({
      assistant_id: 'a1',
      graph_id: 'agent',
      config: {},
      context: {},
      metadata: {},
    }),
    deployments: [TENANT.deployment_id],
    clock,
    logger: createLogger({ level: 'silent' }),
  } as unknown as CronsDeps
  const start = (): Crons => {
    const crons = startCrons(deps)
    onTestFinished(() => crons.stop())
    return crons
  }
  const refuse = (error: AppError | undefined): void => void (refusal = error)
  const fill = (isFull: boolean): void =>
    void (deps.assertRoom = async () => {
      looks++
      if (isFull) throw new AppError('disk_full')
    })
  return { clock, made, start, refuse, fill, looks: () => looks, store }
}

describe('crons', () => {
  it('that are due together yield to the event loop between their runs', async () => {
    const { clock, made, start, store } = await openCrons()
    const crons = start()
    for (let n = 0; n < 300; n++) await crons.create(CALL, null, EVERY_MINUTE)
    await crons.stop()
    clock.time = NOW + 60_000
    let most = 0
    start()
    for (let before = 0; made.length < 300; before = made.length) {
      await new Promise((turn) => setImmediate(turn))
      most = Math.max(most, made.length - before)
    }
    expect(most).toBeLessThan(5)
    expect(await store.due([TENANT.deployment_id], clock.time, 1)).toEqual([])
  })

  it('RUN-31 create runs in the name of their caller, with their id in the metadata', async () => {
    const { clock, made, start } = await openCrons()
    const crons = start()
    const cron = await crons.create(CALL, 't1', {
      ...EVERY_MINUTE,
      metadata: { mine: 1 },
      payload: { assistant_id: 'agent', input: { a: 1 }, metadata: { its: 2 } },
    })
    expect(cron.next_run_date).toBe(Date.parse('2026-11-20T09:01:00Z'))
    clock.time = NOW + 30_000
    start()
    await eventually(async () => expect(made).toHaveLength(1))
    expect(made[0]).toEqual({
      call: { tenant: TENANT, caller: CALL.caller, headers: {} },
      thread_id: 't1',
      request: {
        assistant_id: 'a1',
        input: { a: 1 },
        metadata: { its: 2, mine: 1, cron_id: cron.cron_id },
        on_completion: 'delete',
      },
    })
  })

  it('RUN-31 create one run for all missed times', async () => {
    const { clock, made, start, store } = await openCrons()
    const first = start()
    const { cron_id } = await first.create(CALL, null, EVERY_MINUTE)
    await first.stop()
    clock.time = NOW + 10 * 60_000
    start()
    const next = Date.parse('2026-11-20T09:11:00Z')
    await eventually(async () =>
      expect(await store.get(TENANT, cron_id)).toMatchObject({ next_run_date: next }),
    )
    await eventually(async () => expect(made).toHaveLength(1))
  })

  it('RUN-31 create each run once, however many servers there are', async () => {
    const { clock, made, start } = await openCrons()
    const maker = start()
    for (let n = 0; n < 5; n++) await maker.create(CALL, null, EVERY_MINUTE)
    clock.time = NOW + 30_000
    const servers = [start(), start(), start()]
    await eventually(async () => expect(made).toHaveLength(5))
    for (const server of servers) await server.stop()
    expect(new Set(made.map(({ request }) => request.metadata?.['cron_id'])).size).toBe(5)
    expect(made).toHaveLength(5)
  })

  it('RUN-31 have one run for a date although the clock is set back a moment after it', async () => {
    const { clock, made, start, store } = await openCrons()
    const first = start()
    const { cron_id } = await first.create(CALL, null, EVERY_MINUTE)
    await first.stop()
    const date = Date.parse('2026-11-20T09:01:00Z')
    const times = [date]
    clock.now = () => times.shift() ?? date - 3
    start()
    await eventually(async () => expect(made).toHaveLength(1))
    const next = Date.parse('2026-11-20T09:02:00Z')
    expect(await store.get(TENANT, cron_id)).toMatchObject({ next_run_date: next })
  })

  it('continue when a run is refused', async () => {
    const { clock, made, start, refuse, store } = await openCrons()
    const { cron_id } = await start().create(CALL, 't1', EVERY_MINUTE)
    refuse(new AppError('thread_busy'))
    clock.time = NOW + 30_000
    start()
    const next = Date.parse('2026-11-20T09:02:00Z')
    await eventually(async () =>
      expect(await store.get(TENANT, cron_id)).toMatchObject({ next_run_date: next }),
    )
    refuse(undefined)
    clock.time = next
    start()
    await eventually(async () => expect(made).toHaveLength(1))
  })

  it('that are due while the disk is full create their run once there is space', async () => {
    const { clock, made, start, fill, looks, store } = await openCrons()
    const { cron_id } = await start().create(CALL, 't1', EVERY_MINUTE)
    fill(true)
    clock.time = NOW + 30_000
    const full = start()
    await eventually(async () => expect(looks()).toBeGreaterThan(0))
    await full.stop()
    expect(await store.get(TENANT, cron_id)).toMatchObject({ next_run_date: NOW + 30_000 })
    fill(false)
    start()
    await eventually(async () => expect(made).toHaveLength(1))
  })

  it.each([
    ['its next time', null],
    ['no next time', NOW + 3_570_000],
  ])('whose run a quota refuses try again before %s', async (_what, end_time) => {
    const { clock, made, start, refuse, store } = await openCrons()
    const hourly = { ...EVERY_MINUTE, schedule: '0 * * * *', end_time }
    const first = start()
    const { cron_id, next_run_date } = await first.create(CALL, null, hourly)
    await first.stop()
    refuse(new AppError('quota_reached'))
    clock.time = next_run_date ?? Number.NaN
    const again = clock.time + 60_000
    const refused = start()
    await eventually(async () =>
      expect(await store.get(TENANT, cron_id)).toMatchObject({ next_run_date: again }),
    )
    await refused.stop()
    refuse(undefined)
    clock.time = again
    start()
    await eventually(async () => expect(made).toHaveLength(1))
  })

  it('have metadata of bounded size, however many requests add to it', async () => {
    const { start } = await openCrons()
    const crons = start()
    const { cron_id } = await crons.create(CALL, null, EVERY_MINUTE)
    const half = 'x'.repeat(1 << 19)
    await crons.update(CALL, cron_id, { metadata: { a: half } })
    const code = 'metadata_too_large'
    await expect(crons.update(CALL, cron_id, { metadata: { b: half } })).rejects.toMatchObject({ code })
  })

  it('are not due when they are disabled or past their end', async () => {
    const { start } = await openCrons()
    const crons = start()
    const made = await crons.create(CALL, null, { ...EVERY_MINUTE, end_time: NOW + 10_000 })
    expect(made.next_run_date).toBeNull()
    const open = await crons.update(CALL, made.cron_id, { end_time: null, metadata: { a: 1 } })
    expect(open.next_run_date).toBe(Date.parse('2026-11-20T09:01:00Z'))
    expect(await crons.update(CALL, made.cron_id, { enabled: false })).toMatchObject({
      next_run_date: null,
      metadata: { a: 1 },
    })
  })
})
