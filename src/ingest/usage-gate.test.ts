import { describe, expect, it } from 'vitest'
import { createLogger } from '../base/log.ts'
import type { LogPosition } from './log/position.ts'
import { createUsageGate, type GateRequest } from './usage-gate.ts'
import type { UsageLimit } from '../usage/limits.ts'
import { testClock } from '../../test/support/faults/test-clock.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const KEY = '22222222-2222-4222-8222-222222222222'
const NOW = Date.UTC(2026, 10, 20, 12)

function limitOf(fields: Partial<UsageLimit> = {}): UsageLimit {
  return {
    id: 'limit',
    organization_id: 'o',
    workspace_id: WORKSPACE,
    api_key_id: null,
    limit_type: 'monthly_traces',
    limit_value: 10,
    mode: 'hard',
    created_at: 0,
    updated_at: 0,
    ...fields,
  }
}

/** Creates a gate with a store that counts logged traces once a test waits for them or calls `storeAll`. */
function setUp(limit: UsageLimit) {
  let now = NOW
  let up = true
  let log = 0
  let stored = 0
  const logged: { at: number; traces: ReadonlySet<string> }[] = []
  const counted = (): Set<string> => {
    if (!up) throw new Error('the store is away')
    return new Set(logged.filter(({ at }) => at <= stored).flatMap(({ traces }) => [...traces]))
  }
  const at = (offset: number): LogPosition => ({ segment: 1, offset })
  const gate = createUsageGate({
    limits: {
      list: async () => [limit],
      put: async () => limit,
      remove: async () => true,
      snapshot: () => [limit],
    },
    tally: {
      count: async (_limit, start) => (start === Date.UTC(2026, 10) ? counted().size : 0),
      known: async (_workspace, ids) => {
        const all = counted()
        return new Set(ids.filter((id) => all.has(id)))
      },
    },
    stored: () => at(stored),
    reached: async ({ offset }) => {
      if (!up) throw new Error('the store is away')
      stored = Math.max(stored, offset)
    },
    clock: testClock(() => now),
    logger: createLogger({ level: 'silent' }),
  })
  const request = (ids: readonly string[], who: Partial<GateRequest> = {}): GateRequest => ({
    workspace_id: WORKSPACE,
    api_key_id: KEY,
    traces: () => new Set(ids),
    ...who,
  })
  const send = async (...ids: string[]): Promise<string> => {
    const passage = await gate.pass(request(ids))
    const refused = passage.refused?.traces ?? new Set()
    logged.push({ at: ++log, traces: new Set(ids.filter((id) => !refused.has(id))) })
    passage.logged(at(log))
    return passage.refused?.error.code ?? (passage.warnings.join() || 'passed')
  }
  return {
    gate,
    request,
    send,
    accepted: () => new Set(logged.flatMap(({ traces }) => [...traces])).size,
    storeAll: () => void (stored = log),
    later: (ms: number) => void (now += ms),
    down: () => void (up = false),
    back: () => void (up = true),
  }
}

const ids = (count: number, prefix = 't'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`)

describe('a hard limit', () => {
  it('accepts the whole request that reaches it, and refuses new traces after that', async () => {
    const { send, accepted } = setUp(limitOf())
    expect(await send(...ids(9))).toBe('passed')
    expect(await send('a', 'b')).toBe('passed')
    expect(await send('c')).toBe('usage_limit_reached')
    expect(accepted()).toBe(11)
  })

  it('accepts operations of counted traces, also in a request that has a new trace', async () => {
    const { gate, request, send } = setUp(limitOf())
    await send(...ids(10))
    expect(await send('t0', 't5')).toBe('passed')
    const { refused } = await gate.pass(request(['t0', 'new']))
    expect(refused?.traces).toEqual(new Set(['new']))
  })

  it('counts a trace once that is sent in many requests', async () => {
    const { send, accepted } = setUp(limitOf())
    for (let round = 0; round < 30; round++) expect(await send('same')).toBe('passed')
    for (const id of ids(9)) expect(await send(id)).toBe('passed')
    expect(await send('one more')).toBe('usage_limit_reached')
    expect(accepted()).toBe(10)
  })

  it('is exceeded by at most one request when many arrive at once', async () => {
    const { send, accepted } = setUp(limitOf({ limit_value: 100 }))
    const sent = await Promise.all(Array.from({ length: 60 }, (_, i) => send(...ids(5, `r${i}-`))))
    expect(sent.filter((outcome) => outcome === 'passed')).toHaveLength(20)
    expect(accepted()).toBe(100)
  })

  it('resets at the start of the month, which the error contains', async () => {
    const { gate, request, send, later } = setUp(limitOf({ limit_value: 1 }))
    await send('a')
    const { refused } = await gate.pass(request(['b']))
    expect(refused?.error).toMatchObject({
      code: 'usage_limit_reached',
      details: { retry_after: (Date.UTC(2026, 11) - NOW) / 1000 },
    })
    later(Date.UTC(2026, 11) - NOW)
    expect(await send('b')).toBe('passed')
  })

  it('refuses nothing while the store is unreachable', async () => {
    const { send, down, back, later } = setUp(limitOf({ limit_value: 1 }))
    await send('a')
    down()
    expect(await send('b')).toBe('passed')
    back()
    later(2_000)
    expect(await send('c')).toBe('usage_limit_reached')
  })

  it('applies to the key that it names, in every workspace', async () => {
    const { gate, request, send } = setUp(limitOf({ workspace_id: null, api_key_id: KEY, limit_value: 1 }))
    await send('a')
    expect((await gate.pass(request(['b']))).refused?.error.code).toBe('usage_limit_reached')
    expect(gate.pass(request(['b'], { api_key_id: WORKSPACE }))).not.toBeInstanceOf(Promise)
  })
})

describe('counting', () => {
  it('reads counts one after the other, so that an older result never replaces a newer one', async () => {
    let under = 0
    let most = 0
    let counts = 0
    const gate = createUsageGate({
      limits: {
        list: async () => [],
        put: async () => limitOf(),
        remove: async () => true,
        snapshot: () => [limitOf({ limit_value: 3 })],
      },
      tally: {
        count: async () => {
          most = Math.max(most, ++under)
          await new Promise((resolve) => setImmediate(resolve))
          under--
          return Math.min(counts++, 3)
        },
        known: async () => new Set(),
      },
      stored: () => ({ segment: 1, offset: 0 }),
      reached: async () => undefined,
      clock: testClock(() => NOW),
      logger: createLogger({ level: 'silent' }),
    })
    const pass = async (id: number) =>
      await gate.pass({ workspace_id: WORKSPACE, api_key_id: KEY, traces: () => new Set([String(id)]) })
    const passages = await Promise.all(Array.from({ length: 20 }, (_, id) => pass(id)))
    expect(passages.filter(({ refused }) => refused === undefined)).toHaveLength(3)
    expect([most, counts > 1]).toEqual([1, true])
  })

  it('refuses nothing while the limits cannot be read', async () => {
    const gate = createUsageGate({
      limits: {
        list: async () => [],
        put: async () => limitOf(),
        remove: async () => true,
        snapshot: () => Promise.reject(new Error('the database is away')),
      },
      tally: { count: async () => 9, known: async () => new Set() },
      stored: () => ({ segment: 1, offset: 0 }),
      reached: async () => undefined,
      clock: testClock(() => NOW),
      logger: createLogger({ level: 'silent' }),
    })
    const request = { workspace_id: WORKSPACE, api_key_id: KEY, traces: () => new Set(['a']) }
    expect((await gate.pass(request)).refused).toBeUndefined()
  })
})

describe('a soft limit', () => {
  it('does not warn for traces that are counted already', async () => {
    const { send } = setUp(limitOf({ mode: 'soft', limit_value: 4 }))
    await send('a', 'b')
    const again = await Promise.all(Array.from({ length: 10 }, () => send('a', 'b')))
    expect(new Set(again)).toEqual(new Set(['passed']))
  })

  it('warns, and refuses nothing', async () => {
    const { send } = setUp(limitOf({ mode: 'soft', limit_value: 2 }))
    expect(await send('a', 'b')).toBe('passed')
    expect(await send('c')).toBe('The workspace has reached its limit of 2 traces this month.')
  })
})

describe('a request that is not logged', () => {
  it('is not counted', async () => {
    const { gate, request, send, storeAll, later } = setUp(limitOf({ limit_value: 1 }))
    const passage = await gate.pass(request(['lost']))
    passage.logged(undefined)
    storeAll()
    later(2_000)
    expect(await send('a')).toBe('passed')
    expect(await send('b')).toBe('usage_limit_reached')
  })
})
