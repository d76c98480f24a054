import { expect, it, onTestFinished, vi } from 'vitest'
import { createMetrics } from '../../base/metrics.ts'
import { createDrain, READY_PARTS, readinessReply } from './readiness.ts'

/** Returns the parts that are ready while these stores are down. */
async function readyWithout(...down: string[]): Promise<string[]> {
  const names = ['clickhouse', 'sql', 'runs', 'redis', 'disk', 'blobs']
  const check = async (name: string): Promise<void> => {
    if (down.includes(name)) throw new Error('down')
  }
  const checks = Object.fromEntries(names.map((name) => [name, () => check(name)]))
  const replies = READY_PARTS.map(async (part) => {
    const { status = 200, body } = await readinessReply({ checks, drain: { isDraining: () => false } }, part)
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
  void readinessReply({ checks, drain: { isDraining: () => false } }, 'server').then(answered)
  await vi.advanceTimersByTimeAsync(900)
  expect(answered).toHaveBeenCalledExactlyOnceWith({
    body: { ready: true, draining: false, parts: { ingest: 'up', reads: 'down', runs: 'up' } },
  })
})

it('a server that drains is ready for nothing, and its metrics say so', async () => {
  const metrics = createMetrics()
  const drain = createDrain(metrics)
  expect(metrics.render()).toContain('weir_draining 0')
  drain.begin()
  expect(metrics.render()).toContain('weir_draining 1')
  for (const part of READY_PARTS) {
    const { status, body } = await readinessReply({ checks: {}, drain }, part)
    expect([status, body.ready, body.draining]).toEqual([503, false, true])
  }
})
