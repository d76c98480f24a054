import { describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

describe('createMetrics', () => {
  it('renders counters per set of labels, whatever the order of the names', () => {
    const metrics = createMetrics()
    const outcomes = metrics.counter('weir_outcomes_total', 'Outcomes by code.')
    outcomes.inc({ code: 'stored', kind: 'create' })
    outcomes.inc({ kind: 'create', code: 'stored' }, 2)
    outcomes.inc({ code: 'rejected', kind: 'create' })
    expect(metrics.render()).toBe(
      [
        '# HELP weir_outcomes_total Outcomes by code.',
        '# TYPE weir_outcomes_total counter',
        'weir_outcomes_total{code="stored",kind="create"} 3',
        'weir_outcomes_total{code="rejected",kind="create"} 1',
        '',
      ].join('\n'),
    )
  })

  it('shows an untouched counter as 0 and reads observed gauges at every scrape', () => {
    const metrics = createMetrics()
    metrics.counter('a_total', 'A.')
    let queued = 1
    metrics.observedGauge('queued', 'Queue.', () => queued)
    expect(metrics.render()).toContain('a_total 0\n')
    queued = 7
    expect(metrics.render()).toContain('queued 7\n')
  })

  it('counts histogram buckets cumulatively', () => {
    const metrics = createMetrics()
    const seconds = metrics.histogram('h_seconds', 'H.', [0.1, 1])
    for (const value of [0.05, 0.1, 0.5, 3]) seconds.observe(value, { route: '/x' })
    expect(metrics.render().split('\n').slice(2, -1)).toEqual([
      'h_seconds_bucket{route="/x",le="0.1"} 2',
      'h_seconds_bucket{route="/x",le="1"} 3',
      'h_seconds_bucket{route="/x",le="+Inf"} 4',
      'h_seconds_sum{route="/x"} 3.65',
      'h_seconds_count{route="/x"} 4',
    ])
  })

  it('escapes label values and keeps the last value of a gauge', () => {
    const metrics = createMetrics()
    const gauge = metrics.gauge('g', 'G.')
    gauge.set(1, { name: 'a"b\\c\nd' })
    gauge.set(2, { name: 'a"b\\c\nd' })
    expect(metrics.render()).toContain('g{name="a\\"b\\\\c\\nd"} 2\n')
  })

  it('gives several parts the same counter', () => {
    const metrics = createMetrics()
    metrics.counter('b_total', 'B.').inc()
    metrics.counter('b_total', 'B.').inc()
    expect(metrics.render()).toContain('b_total 2')
  })

  it('refuses a name that is taken or malformed', () => {
    const metrics = createMetrics()
    metrics.counter('a_total', 'A.')
    expect(() => metrics.gauge('a_total', 'again')).toThrow('registered twice')
    expect(() => metrics.counter('Not-A-Name', 'x')).toThrow('not a metric name')
  })
})
