import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import type { Alert, AlertFields, AlertStore } from '../../../src/alerts/alert.ts'
import { notificationBody } from '../../../src/alerts/message.ts'
import { createAlertSweep, EVERY_MS } from '../../../src/alerts/sweep.ts'
import { AppError } from '../../../src/base/errors.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import type { TraceReads, TraceRunStats, TraceRunStatsQuery } from '../../../src/query/trace-reads.ts'
import { startDeliveries } from '../../../src/runs/webhooks/deliveries.ts'
import { ANY_WEBHOOK } from '../../../src/runs/webhooks/rules.ts'
import { createAlertStore } from '../../../src/storage/sql/alerts/alert-store.ts'
import { createNotificationStore } from '../../../src/storage/sql/alerts/notification-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { createWorkspaceStore } from '../../../src/storage/sql/identity/workspace-store.ts'
import { createProjectStore } from '../../../src/storage/sql/projects/store.ts'
import { eventually } from '../../support/eventually.ts'
import { settableClock } from '../../support/faults/test-clock.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const OWNER = { workspace_id: 'w', project_id: 'p', created_by: 'u' }
const FIELDS: AlertFields = {
  name: 'errors',
  subject: 'traces',
  filter: null,
  figure: 'error_rate',
  comparison: 'above',
  threshold: '0.05',
  window_minutes: 5,
  no_data: 'keep',
  webhook_url: 'https://example.com/hook',
  is_enabled: true,
}
const LOGGER = createLogger({ level: 'silent' })
const LEASE = { owner: 'me', lease_ms: 1000 }

/** Starts a receiver of webhooks, which keeps their bodies. */
async function startReceiver(answer: (n: number) => number = () => 200) {
  const received: { type: string; state: string; change: number; text: string; reason: string }[] = []
  const server = createServer((req, res) => {
    void (async () => {
      let body = ''
      for await (const chunk of req.setEncoding('utf8')) body += chunk
      received.push(JSON.parse(body) as (typeof received)[number])
      res.writeHead(answer(received.length)).end()
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

describeOnSql('alerts', (engine) => {
  let database: Database
  let store: AlertStore
  let clock: ReturnType<typeof settableClock>
  beforeEach(async () => {
    database = await engine.open()
    await migrate(database)
    clock = settableClock(1_700_000_000_000)
    store = createAlertStore(database, clock)
  })

  /** A sweep whose reads have these error rates; an error is thrown, undefined is a window without ended runs. */
  function sweepOf(
    rates: (number | undefined | Error)[],
    oldest: string | null = null,
    known?: TraceRunStats['figures'],
  ) {
    const asked: TraceRunStatsQuery[] = []
    const stats: TraceReads['stats'] = async (_workspace, query) => {
      asked.push(query)
      const rate = rates.length > 1 ? rates.shift() : rates[0]
      if (rate instanceof Error) throw rate
      const figures = [{ error_rate: rate ?? null, run_count: 1 }] as unknown as TraceRunStats['figures']
      return { is_exact: true, figures: known ?? figures, feedback: {} }
    }
    const changed = (): void => undefined
    const deps = { store, reads: { stats }, oldestWaiting: () => oldest, changed, clock, logger: LOGGER }
    const work = createAlertSweep(deps)
    const once = (): Promise<void> => work(new AbortController().signal)
    const sweep = async (): Promise<Alert | undefined> => {
      await once()
      clock.time += EVERY_MS
      return (await store.list('w'))[0]
    }
    return { once, sweep, asked }
  }

  /** What waits to be told, in its order. */
  async function told(): Promise<[change: number, state: string, reason: string][]> {
    const rows = await database.query<{ notification: string; change_no: number }>(
      'SELECT notification, change_no FROM alert_notifications ORDER BY change_no',
    )
    return rows.map(({ notification, change_no }) => {
      const { state, reason } = JSON.parse(notification) as { state: string; reason: string }
      return [change_no, state, reason]
    })
  }

  it('tell each change of their state once, and nothing at a first evaluation that does not fire', async () => {
    await store.create(OWNER, FIELDS)
    const { sweep, asked } = sweepOf([0.01, 0.5, 0.6, undefined, 0.01, 0])
    expect(await sweep()).toMatchObject({ state: 'ok', value: '0.01', since: 1_700_000_000_000 })
    expect(await told()).toEqual([])
    expect(await sweep()).toMatchObject({ state: 'firing', value: '0.5' })
    const since = (await store.list('w'))[0]?.since
    expect(await sweep()).toMatchObject({ state: 'firing', value: '0.6', since })
    expect(await sweep()).toMatchObject({ state: 'firing', value: null, since })
    expect(await told()).toEqual([[1, 'firing', 'threshold']])
    expect(await sweep()).toMatchObject({ state: 'ok' })
    await sweep()
    expect(await told()).toEqual([
      [1, 'firing', 'threshold'],
      [2, 'ok', 'threshold'],
    ])
    // A window of five minutes that ends a minute ago.
    expect((asked[0]?.end_time ?? 0) / 1000).toBe(1_700_000_000_000 - 60_000)
    expect(((asked[0]?.end_time ?? 0) - (asked[0]?.start_time ?? 0)) / 1000).toBe(300_000)
  })

  it('on costs say how many calls have no price, where they are listed and told', async () => {
    await store.create(OWNER, { ...FIELDS, figure: 'total_cost', threshold: '1' })
    const figures = [{ total_cost: '2.5', unpriced_runs: 3, run_count: 9 }]
    const { sweep } = sweepOf([], null, figures as unknown as TraceRunStats['figures'])
    expect(await sweep()).toMatchObject({ state: 'firing', value: '2.5', unpriced_runs: 3 })
    const [due] = await createNotificationStore(database, clock).take(1, LEASE)
    expect(JSON.parse(notificationBody(due!.notification, undefined))).toMatchObject({
      unpriced_runs: 3,
      text: 'Firing: errors. The known cost of traces was $2.5 in 5 min (alert above $1), without 3 calls that have no price.',
    })
    const [alert] = await store.list('w')
    expect(await store.update(alert!, { figure: 'error_rate' })).toMatchObject({ unpriced_runs: null })
  })

  it('are evaluated by one of several servers', async () => {
    for (let at = 0; at < 25; at += 1) await store.create(OWNER, { ...FIELDS, name: `rule ${at}` })
    const one = sweepOf([0])
    const other = sweepOf([0])
    const both = [createAlertStore(database, clock), createAlertStore(database, clock)]
    const taken = await Promise.all(both.map((each) => each.takeDue(20, EVERY_MS)))
    expect(new Set(taken.flat().map(({ id }) => id)).size).toBe(taken.flat().length)
    await Promise.all([one.once(), other.once()])
    expect(taken.flat().length + one.asked.length + other.asked.length).toBe(25)
  })

  it('that are changed, switched off or deleted while they fire are told as resolved', async () => {
    const alert = await store.create(OWNER, FIELDS)
    const { sweep } = sweepOf([1])
    await sweep()
    await store.update(alert, { name: 'another name' })
    expect(await told()).toHaveLength(1)
    expect(await store.update(alert, { threshold: '0.5' })).toMatchObject({ state: 'unknown', value: null })
    await sweep()
    await store.update(alert, { is_enabled: false })
    clock.time += EVERY_MS
    expect(await store.takeDue(10, EVERY_MS)).toEqual([])
    await store.update(alert, { is_enabled: true })
    await sweep()
    await store.delete(alert)
    expect(await told()).toEqual([
      [1, 'firing', 'threshold'],
      [2, 'ok', 'changed'],
      [3, 'firing', 'threshold'],
      [4, 'ok', 'disabled'],
      [5, 'firing', 'threshold'],
      [6, 'ok', 'deleted'],
    ])
    expect(await store.delete(alert)).toBeUndefined()
  })

  it('an evaluation of a rule that was changed meanwhile is dropped', async () => {
    await store.create(OWNER, FIELDS)
    const [taken] = await store.takeDue(1, EVERY_MS)
    if (taken === undefined) throw new Error('nothing was due')
    await store.update(taken, { threshold: '0.9' })
    const at = clock.now()
    const evaluation = {
      state: 'firing',
      reason: 'threshold',
      value: '0.5',
      unpriced_runs: null,
      window: { from: 0, to: 1 },
      at,
    } as const
    await store.settle(taken, evaluation)
    expect(await store.list('w')).toMatchObject([{ state: 'unknown', threshold: '0.9' }])
    expect(await told()).toEqual([])
  })

  it('wait while records wait to be stored, and keep their state when the store does not answer', async () => {
    const created = await store.create(OWNER, FIELDS)
    const behind = sweepOf([1], new Date(clock.now() - 120_000).toISOString())
    expect(await behind.sweep()).toMatchObject({ state: 'unknown' })
    expect(behind.asked).toEqual([])
    const { sweep } = sweepOf([1, new AppError('store_unavailable'), new AppError('invalid_request'), 0])
    expect(await sweep()).toMatchObject({ state: 'firing' })
    await expect(sweep()).rejects.toMatchObject({ code: 'store_unavailable' })
    clock.time += EVERY_MS
    expect(await sweep()).toMatchObject({ state: 'firing', fault: expect.any(String) })
    expect(await sweep()).toMatchObject({ state: 'ok', fault: null, id: created.id })
  })

  it('have one name in a project, are at most 100 in a workspace, and go with their project', async () => {
    const projects = createProjectStore(database, clock)
    const { id } = await projects.create('w', { name: 'mine' }, { upsert: false })
    const alert = await store.create({ ...OWNER, project_id: id }, FIELDS)
    await expect(store.create({ ...OWNER, project_id: id }, FIELDS)).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await store.update({ ...alert, workspace_id: 'v' }, { name: 'x' })).toBeUndefined()
    expect(await store.list('v')).toEqual([])
    await sweepOf([1]).sweep()
    await projects.delete('w', id)
    expect(await store.list('w')).toEqual([])
    expect((await told()).at(-1)).toEqual([2, 'ok', 'deleted'])
    for (let at = 0; at < 100; at += 1) await store.create(OWNER, { ...FIELDS, name: `rule ${at}` })
    await expect(store.create(OWNER, FIELDS)).rejects.toMatchObject({ code: 'quota_reached' })
  })

  it('end with their workspace, and are told as resolved', async () => {
    await database.query("INSERT INTO organizations (id, display_name, created_at) VALUES ('o', 'o', 0)")
    for (const id of ['w', 'v'])
      await database.query(
        `INSERT INTO workspaces (id, organization_id, display_name, created_at) VALUES (?, 'o', ?, 0)`,
        [id, id],
      )
    await store.create(OWNER, FIELDS)
    const { sweep } = sweepOf([1, 1])
    await sweep()
    const actor = { api_key_id: 'k', short_key: 'k', user_id: null, at: clock.now() }
    expect(await createWorkspaceStore(database).deleteWorkspace('o', 'w', actor)).toBe(true)
    expect((await told()).at(-1)).toEqual([2, 'ok', 'deleted'])
    expect(await store.takeDue(10, EVERY_MS)).toEqual([])
    clock.time += EVERY_MS
    expect(await store.takeDue(10, EVERY_MS)).toEqual([])
  })

  it('are told by webhooks in the order of their changes, also when a receiver fails at first', async () => {
    const { url, received } = await startReceiver((n) => (n === 1 ? 500 : 200))
    await store.create(OWNER, { ...FIELDS, webhook_url: url })
    const { sweep } = sweepOf([0.5, 0])
    await sweep()
    await sweep()
    clock.time += EVERY_MS
    const notifications = createNotificationStore(database, clock)
    expect((await notifications.take(10, LEASE)).map(({ change_no }) => change_no)).toEqual([1])
    await notifications.recover('me')
    const deliveries = startDeliveries({
      store: notifications,
      message: ({ notification }) => ({
        id: notification.id,
        body: notificationBody(notification, 'https://weir.example'),
      }),
      about: ({ alert_id }) => ({ alert_id }),
      owner: 'me',
      secret: 'a secret of some length',
      rules: ANY_WEBHOOK,
      allowPrivate: true,
      pausesMs: [0, 0],
      clock,
      logger: LOGGER,
      metrics: createMetrics(),
    })
    onTestFinished(() => deliveries.stop())
    await eventually(async () => {
      clock.time += 10
      deliveries.ask()
      expect(received.map(({ change, type }) => [change, type])).toEqual([
        [1, 'alert.firing'],
        [1, 'alert.firing'],
        [2, 'alert.resolved'],
      ])
    })
    expect(received[0]?.text).toBe(
      'Firing: errors. The error rate of traces was 50% in 5 min (alert above 5%).',
    )
    await eventually(async () => expect(await store.list('w')).toMatchObject([{ delivery: 'delivered' }]))
  })

  it('are not told to addresses that are not public', async () => {
    const { url, received } = await startReceiver()
    await store.create(OWNER, { ...FIELDS, webhook_url: url })
    await sweepOf([0.5]).sweep()
    const deliveries = startDeliveries({
      store: createNotificationStore(database, clock),
      message: ({ notification }) => ({
        id: notification.id,
        body: notificationBody(notification, undefined),
      }),
      about: () => ({}),
      owner: 'me',
      secret: 'a secret of some length',
      rules: ANY_WEBHOOK,
      allowPrivate: false,
      clock,
      logger: LOGGER,
      metrics: createMetrics(),
    })
    onTestFinished(() => deliveries.stop())
    await eventually(async () => expect(await store.list('w')).toMatchObject([{ delivery: 'refused' }]))
    expect(received).toEqual([])
  })
})
