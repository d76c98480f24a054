import { describe, expect, it } from 'vitest'
import type { Alert } from './alert.ts'
import { figuresQuery, ALLOWED_LATE_MS, stateAfter, evaluationWindow } from './evaluate.ts'

const RULE = { name: 'a', subject: 'traces', filter: null, figure: 'error_rate', webhook_url: null } as const
const rule = (over: Partial<Alert>) =>
  ({
    ...RULE,
    comparison: 'above',
    threshold: '0.05',
    window_minutes: 5,
    no_data: 'keep',
    is_enabled: true,
    state: 'ok',
    ...over,
  }) as Alert

describe('the state of an alert', () => {
  it.each<[Partial<Alert>, string | null, string, string]>([
    [{}, '0.06', 'firing', 'threshold'],
    [{ state: 'firing' }, '0.04', 'ok', 'threshold'],
    [{ state: 'firing' }, '0.06', 'firing', 'threshold'],
    [{}, '0.05', 'ok', 'threshold'],
    [{ comparison: 'below', threshold: '1' }, '0', 'firing', 'threshold'],
    [{ comparison: 'below', threshold: '1' }, '1', 'ok', 'threshold'],
    [{ threshold: '0.000000000000000001' }, '0.000000000000000002', 'firing', 'threshold'],
    [{ threshold: '0.3' }, String(0.1 + 0.2), 'firing', 'threshold'],
    [{ threshold: '1' }, '1.5e-7', 'ok', 'threshold'],
    [{ state: 'firing' }, null, 'firing', 'no_data'],
    [{ state: 'unknown' }, null, 'ok', 'no_data'],
    [{ state: 'firing', no_data: 'ok' }, null, 'ok', 'no_data'],
    [{ no_data: 'fire' }, null, 'firing', 'no_data'],
  ])('%j with the value %s is %s by %s', (over, value, state, reason) => {
    expect(stateAfter(rule(over), value)).toEqual({ state, reason })
  })

  it('reads a window that ends before the last minute, and only the runs that the rule is about', () => {
    const now = 1_700_000_000_000
    const window = evaluationWindow({ window_minutes: 5 }, now)
    expect(window).toEqual({ from: now - ALLOWED_LATE_MS - 300_000, to: now - ALLOWED_LATE_MS })
    const times = { session: ['p'], start_time: window.from * 1000, end_time: window.to * 1000 }
    const about = { project_id: 'p', subject: 'traces', filter: null, figure: 'run_count' } as const
    expect(figuresQuery(about, window)).toEqual({ ...times, is_root: true })
    expect(
      figuresQuery({ ...about, subject: 'llm', filter: 'eq(name, "a")', figure: 'failed_count' }, window),
    ).toEqual({
      ...times,
      filter: 'and(eq(name, "a"), eq(run_type, "llm"), eq(status, "error"))',
    })
  })
})
