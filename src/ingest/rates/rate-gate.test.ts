import { expect, it } from 'vitest'
import { toAppError } from '../../base/errors.ts'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import type { IngestLimit, IngestLimits } from '../../usage/limits.ts'
import { NOW } from '../../../test/support/faults/test-clock.ts'
import { createLocalBuckets } from './buckets.ts'
import { createRateGate, type RateCost } from './rate-gate.ts'

const CALLER = { workspace_id: 'w', api_key_id: 'k' }

function limit(
  runs: number | null,
  bytes: number | null = null,
  api_key_id: string | null = null,
): IngestLimit {
  return { workspace_id: 'w', api_key_id, runs_per_minute: runs, bytes_per_minute: bytes }
}

/** A gate with these limits; `servers` share them. */
function openGate(limits: IngestLimit[], { servers = 1 } = {}) {
  const world = { ms: 0, limits, servers, broken: false }
  const clock = { now: () => NOW + Math.round(world.ms), steady: () => world.ms }
  const metrics = createMetrics()
  const gate = createRateGate({
    limits: {
      snapshot(): IngestLimits {
        if (world.broken) throw new Error('no database')
        return new Map([['w', world.limits]])
      },
    },
    buckets: createLocalBuckets({ clock, servers: () => world.servers }),
    clock,
    logger: createLogger({ level: 'silent' }),
    metrics,
  })
  /** Undefined if the request passed, or else the details of the refusal. */
  const outcome = async (work: Promise<void>): Promise<Record<string, unknown> | undefined> =>
    await work.then(
      () => undefined,
      (thrown: unknown) => {
        const { code, details } = toAppError(thrown)
        expect(code).toBe('rate_limited')
        return details as Record<string, unknown>
      },
    )
  const take = (cost: Partial<RateCost>, caller = CALLER) =>
    outcome(gate.take(caller, { runs: 0, bytes: 0, ...cost }))
  return { world, gate, metrics, take, room: (bytes?: number) => outcome(gate.assertRoom(CALLER, bytes)) }
}

it('INGEST-16 allows a minute at once, then refuses until there is enough', async () => {
  const { world, take } = openGate([limit(60)])
  expect(await take({ runs: 40 })).toBeUndefined()
  expect(await take({ runs: 30 })).toEqual({
    retry_after: 10,
    rate_limit: { limit: 60, remaining: 20, reset: NOW / 1000 + 40 },
  })
  expect(await take({ runs: 20 })).toBeUndefined()
  world.ms += 29_000
  expect(await take({ runs: 30 })).toMatchObject({ retry_after: 1 })
  world.ms += 1_000
  expect(await take({ runs: 30 })).toBeUndefined()
})

it('INGEST-16 takes a request that is larger than the limit when all of it is free, and makes up for it', async () => {
  const { world, take } = openGate([limit(60)])
  expect(await take({ runs: 90 })).toBeUndefined()
  expect(await take({ runs: 1 })).toMatchObject({ retry_after: 31, rate_limit: { remaining: 0 } })
  world.ms += 31_000
  expect(await take({ runs: 1 })).toBeUndefined()
  expect(await take({ runs: 90 })).toMatchObject({ retry_after: 60 })
})

it('takes from no limit if one of them is exceeded; those of other keys do not count', async () => {
  const { gate, take } = openGate([limit(100, 1000), limit(10, null, 'k'), limit(1, null, 'other')])
  expect(await take({ runs: 5, bytes: 2000 })).toBeUndefined()
  expect(await take({ runs: 1, bytes: 1 })).toMatchObject({ rate_limit: { limit: 1000 } })
  expect(await take({ runs: 6 })).toMatchObject({ rate_limit: { limit: 10, remaining: 5 } })
  expect(await take({ runs: 5 })).toBeUndefined()
  expect(await take({ runs: 90 }, { ...CALLER, api_key_id: 'free' })).toBeUndefined()
  expect(gate.refused('w')).toEqual({ requests: 2, last_at: NOW })
  expect(gate.refused('v')).toEqual({ requests: 0, last_at: null })
  expect(gate.total).toEqual(gate.refused('w'))
})

it('tells senders that are refused at the same time to come one after the other', async () => {
  const { world, take } = openGate([limit(60)])
  await take({ runs: 60 })
  const waits = [await take({ runs: 10 }), await take({ runs: 10 }), await take({ runs: 10 })]
  expect(waits.map((refused) => refused?.['retry_after'])).toEqual([10, 20, 30])
  for (const _ of waits) {
    world.ms += 10_000
    expect(await take({ runs: 10 })).toBeUndefined()
  }
  await take({ runs: 60 })
  for (let i = 0; i < 100; i++) await take({ runs: 30 })
  expect(await take({ runs: 30 })).toMatchObject({ retry_after: 60 })
})

it('refuses before the body is read when nothing can pass', async () => {
  const { world, take, room } = openGate([limit(60, 6000)])
  expect(await room(10 ** 9)).toBeUndefined()
  await take({ runs: 60, bytes: 1000 })
  expect(await room(5000)).toMatchObject({ retry_after: 1, rate_limit: { limit: 60 } })
  world.ms += 1_000
  expect(await room(5100)).toBeUndefined()
  expect(await room(5200)).toMatchObject({ retry_after: 1, rate_limit: { limit: 6000 } })
  await take({ bytes: 5100 })
  expect(await room(10)).toMatchObject({ rate_limit: { limit: 6000 } })
  world.limits = [limit(600, 60_000)]
  expect(await room(5200)).toBeUndefined()
})

it('uses changed limits at once, and the share of this server', async () => {
  const { world, take } = openGate([limit(60)], { servers: 3 })
  expect(await take({ runs: 20 })).toBeUndefined()
  expect(await take({ runs: 1 })).toMatchObject({ retry_after: 3, rate_limit: { limit: 60, remaining: 0 } })
  world.servers = 1
  world.ms += 1_000
  expect(await take({ runs: 1 })).toBeUndefined()
  world.limits = []
  expect(await take({ runs: 1000 })).toBeUndefined()
})

it('counts what must not be refused, and lets everything pass while limits cannot be read', async () => {
  const { world, gate, take, metrics } = openGate([limit(10)])
  await gate.take(CALLER, { runs: 20, bytes: 1 }, true)
  expect(await take({ runs: 1 })).toMatchObject({ retry_after: 66 })
  expect(metrics.render()).toContain('weir_ingest_rate_limited_total{limit="runs",of="workspace"} 1')
  world.broken = true
  expect(await take({ runs: 1000 })).toBeUndefined()
})
