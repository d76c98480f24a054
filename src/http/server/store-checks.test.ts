import { stat } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { oneAtATime } from '../../base/background/store-checks.ts'
import { downStores, livenessReply } from './store-checks.ts'

it('the error of an exchanged store does not show clients where the store is', async () => {
  const place = '/srv/weir/data/clickhouse'
  const error = new AppError('store_changed', { message: `${place} is empty.`, details: { place } })
  const { body } = await livenessReply({ clickhouse: () => Promise.reject(error) })
  expect(body).toMatchObject({
    problems: { clickhouse: { code: 'store_changed', detail: 'This store is empty.' } },
  })
})

it('a check that hangs is not started a second time until it has ended', async () => {
  const started: PromiseWithResolvers<void>[] = []
  const checks = oneAtATime({
    store: () => {
      started.push(Promise.withResolvers<void>())
      return started.at(-1)!.promise
    },
  })
  const asked = [checks['store']!(), checks['store']!()]
  expect(started.length).toBe(1)
  started[0]?.reject(new AppError('store_unavailable'))
  for (const one of asked) await expect(one).rejects.toMatchObject({ code: 'store_unavailable' })
  const again = checks['store']!()
  expect(started.length).toBe(2)
  started[1]?.resolve()
  await again
})

it('a store that has answered is up, also if this thread was busy until the time limit', async () => {
  const found = downStores(
    { disk: () => stat('/'), silent: () => new Promise(() => {}) },
    ['disk', 'silent'],
    { ms: 20 },
  )
  const until = performance.now() + 200
  while (performance.now() < until);
  expect(await found).toEqual(['silent'])
})

it('a store that is only slow is up, one that gives no answer is down', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] })
  onTestFinished(() => void vi.useRealTimers())
  const slow = () => new Promise((resolve) => setTimeout(resolve, 4_000))
  const [late, never] = [
    livenessReply({ slow }),
    livenessReply({ slow, silent: () => new Promise(() => {}) }),
  ]
  await vi.advanceTimersByTimeAsync(6_000)
  expect(await late).toEqual({ body: { ok: true, checks: { slow: 'up' } } })
  expect(await never).toMatchObject({ status: 503, body: { checks: { slow: 'up', silent: 'down' } } })
})
