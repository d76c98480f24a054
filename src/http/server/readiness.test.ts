import { expect, it, onTestFinished, vi } from 'vitest'
import { createMetrics } from '../../base/metrics.ts'
import { createDrain, READY_PARTS, readinessReply } from './readiness.ts'
import { noteAnswers } from './store-checks.ts'

const never = (): boolean => false

/** Returns the parts that are ready while these stores are down. */
async function readyWithout(...down: string[]): Promise<string[]> {
  const names = ['clickhouse', 'sql', 'runs', 'redis', 'disk', 'blobs']
  const check = async (name: string): Promise<void> => {
    if (down.includes(name)) throw new Error('down')
  }
  const checks = Object.fromEntries(names.map((name) => [name, () => check(name)]))
  const replies = READY_PARTS.map(async (part) => {
    const { status = 200, body } = await readinessReply(
      { checks, answered: never, drain: { isDraining: () => false } },
      part,
    )
    expect(body).toMatchObject({ ready: status === 200, draining: false })
    return status === 200 ? [part] : []
  })
  return (await Promise.all(replies)).flat()
}

it('a store that is away takes out only what needs it', async () => {
  expect(await readyWithout()).toEqual(['server', 'ingest', 'reads', 'runs'])
  expect(await readyWithout('clickhouse')).toEqual(['server', 'ingest', 'runs'])
  expect(await readyWithout('sql')).toEqual(['server', 'ingest'])
  expect(await readyWithout('redis')).toEqual(['server', 'ingest', 'reads'])
  expect(await readyWithout('disk')).toEqual(['server', 'reads'])
  expect(await readyWithout('disk', 'clickhouse')).toEqual([])
})

it('answers within the second that balancers wait, also while a store is silent', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const checks = { disk: async () => true, clickhouse: () => new Promise(() => {}) }
  const answered = vi.fn()
  void readinessReply({ checks, answered: never, drain: { isDraining: () => false } }, 'server').then(
    answered,
  )
  await vi.advanceTimersByTimeAsync(900)
  expect(answered).toHaveBeenCalledExactlyOnceWith({
    body: { ready: true, draining: false, parts: { ingest: 'up', reads: 'down', runs: 'up' } },
  })
})

it('stays ready while stores that have answered in the last 15 s are late, as on a busy machine', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let takesMs = 10
  const slow = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, takesMs))
  const { checks, answered } = noteAnswers({ disk: slow, clickhouse: slow, sql: slow }, () =>
    performance.now(),
  )
  const statusAfter = async (ms: number): Promise<number> => {
    const reply = readinessReply({ checks, answered, drain: { isDraining: () => false } }, 'server')
    await vi.advanceTimersByTimeAsync(ms)
    return (await reply).status ?? 200
  }
  expect(await statusAfter(900)).toBe(200)
  takesMs = 60_000
  expect(await statusAfter(900)).toBe(200)
  await vi.advanceTimersByTimeAsync(14_000)
  expect(await statusAfter(900)).toBe(503)
})

it('a store that refuses is down at once, however lately it answered', async () => {
  let refuses = false
  const disk = async (): Promise<void> => {
    if (refuses) throw new Error('down')
  }
  const { checks, answered } = noteAnswers({ disk }, () => performance.now())
  const ready = async () =>
    (await readinessReply({ checks, answered, drain: { isDraining: () => false } }, 'ingest')).body.ready
  expect(await ready()).toBe(true)
  refuses = true
  expect(await ready()).toBe(false)
})

it('a server that drains is ready for nothing, and its metrics say so', async () => {
  const metrics = createMetrics()
  const drain = createDrain(metrics)
  expect(metrics.render()).toContain('weir_draining 0')
  drain.begin()
  expect(metrics.render()).toContain('weir_draining 1')
  for (const part of READY_PARTS) {
    const { status, body } = await readinessReply({ checks: {}, answered: never, drain }, part)
    expect([status, body.ready, body.draining]).toEqual([503, false, true])
  }
})
