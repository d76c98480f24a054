import { expect, it } from 'vitest'
import type { Figures } from '../../../data/overview/figures.ts'
import { type ChartData, chartsOf } from './charts.ts'

const HOUR = { text: '1h', size: 3_600_000 }
const SPAN = { from: '2026-11-22T10:00:00.000Z', to: '2026-11-22T13:00:00.000Z' }

const figures = (run_count: number, latency_p50: number): Figures =>
  ({
    run_count,
    latency_p50,
    latency_p95: 1.9,
    latency_p99: 2,
    first_token_p95: null,
    first_token_p50: null,
    first_token_p99: null,
    error_rate: 0.5,
    total_tokens: 30,
    prompt_tokens: 20,
    completion_tokens: 10,
    total_cost: '0.10',
    checks: { llm_runs: 4, all: 3, run_type: 4, format: 4, model: 4, usage: 3 },
  }) as Figures
const bucket = (start_time: string, group: string | null, one: Figures) => ({
  start_time,
  group,
  figures: one,
})

function data(group: ChartData['selection']['group'], name: string | null): ChartData {
  const [all, failed] = [figures(4, 1.5), figures(1, 1)]
  return {
    selection: { project: 'p', filter: '', subject: 'llm', group },
    percentile: 'p95',
    span: SPAN,
    interval: HOUR,
    figures: {
      all,
      failed: 1,
      groups: new Map(name === null ? [] : [[name, { figures: all, failed: 1 }]]),
      buckets: [bucket('2026-11-22T11:00:00Z', name, all)],
      failures: [bucket('2026-11-22T11:00:00Z', name, failed)],
      totals: [],
    },
  }
}

const filterOf = (to = ''): string | null => new URL(to, 'http://localhost').searchParams.get('q')

it('each figure stands at its bucket and names exactly its runs', () => {
  const [count, , latency, firstToken, , cost] = chartsOf(data('', null))
  const [ok, failed] = count?.series ?? []
  expect(ok?.marks.map((mark) => mark?.size)).toEqual([undefined, 3, undefined])
  expect(failed?.marks.map((mark) => mark?.size)).toEqual([undefined, 1, undefined])
  expect(filterOf(failed?.marks[1]?.to)).toBe('and(eq(run_type, "llm"), eq(status, "error"))')
  expect(failed?.marks[1]?.to).toContain('from=2026-11-22T11%3A00%3A00.000Z&to=2026-11-22T12%3A00%3A00.000Z')
  expect(filterOf(latency?.series[0]?.whole?.to)).toBe('and(eq(run_type, "llm"), gte(latency, "1500000us"))')
  expect(firstToken?.series.every(({ marks }) => marks.every((mark) => mark === undefined))).toBe(true)
  expect(cost?.series[0]?.whole?.text).toBe('$0.10')
})

it('the share of good model calls opens those that fail a check', () => {
  const good = chartsOf(data('', null)).at(-1)
  expect(good?.series.map(({ name, whole }) => [name, whole?.text])).toEqual([
    ['All four', '75%'],
    ['Format', '100%'],
    ['Model', '100%'],
    ['Usage', '75%'],
  ])
  expect(filterOf(good?.series[3]?.whole?.to)).toBe('and(eq(run_type, "llm"), eq(check_usage, false))')
})

it('the times of groups are those of the chosen percentile, which is named', () => {
  const grouped = data('model', 'm')
  const latencyBy = (percentile: ChartData['percentile']) =>
    chartsOf({ ...grouped, percentile }).find(({ id }) => id === 'latency')
  expect(latencyBy('p95')?.series.map(({ whole }) => whole?.text)).toEqual(['1.9 s'])
  expect(latencyBy('p50')?.series.map(({ whole }) => whole?.text)).toEqual(['1.5 s'])
  expect([latencyBy('p99')?.note, latencyBy('p95')?.note]).toEqual(['p99', 'p95'])
})

it('a figure of a group names the group, and a range of buckets its whole time', () => {
  const [count] = chartsOf(data('tag', 'prod'))
  expect(count?.series.map(({ name }) => name)).toEqual(['prod'])
  expect(filterOf(count?.series[0]?.marks[1]?.to)).toBe('and(eq(run_type, "llm"), has(tags, "prod"))')
  expect(count?.rows(0, 1)).toContain('from=2026-11-22T10%3A00%3A00.000Z&to=2026-11-22T12%3A00%3A00.000Z')
})

it('bars by group have the rest as one more group, which opens the runs of no other group', () => {
  const grouped = data('model', 'm "1"')
  const start = '2026-11-22T11:00:00Z'
  const whole = { ...figures(7, 1), total_tokens: 41, total_cost: '0.35' } as Figures
  const totals = [bucket(start, null, whole), bucket('2026-11-22T12:00:00Z', null, figures(2, 1))]
  const all = { ...whole, run_count: 9, total_tokens: 71, total_cost: '0.45' } as Figures
  const charts = chartsOf({ ...grouped, figures: { ...grouped.figures, all, totals } })
  const othersIn = (id: string) =>
    charts.find((chart) => chart.id === id)?.series.find(({ name }) => name === 'Others')
  expect(othersIn('count')?.marks.map((mark) => mark?.text)).toEqual([undefined, '3', '2'])
  expect(othersIn('count')?.whole?.text).toBe('5')
  expect(othersIn('tokens')?.marks.map((mark) => mark?.text)).toEqual([undefined, '11', '30'])
  expect(othersIn('cost')?.marks[1]?.text).toBe('$0.25')
  expect(othersIn('latency')).toBeUndefined()
  expect(filterOf(othersIn('cost')?.marks[1]?.to)).toBe(
    'and(eq(run_type, "llm"), not(eq(model, "m \\"1\\"")))',
  )
  const complete = chartsOf({ ...grouped, figures: { ...grouped.figures, totals: [totals[0]!] } })
  expect(complete[0]?.series.map(({ name }) => name)).toEqual(['m "1"'])
})

it('a cost says when calls have no price, also where none has one', () => {
  const grouped = data('model', 'own')
  const partial = { ...figures(4, 1.5), unpriced_runs: 2 } as Figures
  const unknown = { ...partial, total_cost: null } as Figures
  const costOf = (own: Figures) => {
    const groups = new Map([['own', { figures: own, failed: 0 }]])
    const buckets = [bucket('2026-11-22T11:00:00Z', 'own', own)]
    const charts = chartsOf({ ...grouped, figures: { ...grouped.figures, groups, buckets } })
    const [series] = charts.find(({ id }) => id === 'cost')?.series ?? []
    return [series?.whole?.text, ...(series?.marks.map((mark) => mark?.text) ?? [])]
  }
  expect(costOf(partial)).toEqual(['≥ $0.10', undefined, '≥ $0.10', undefined])
  expect(costOf(unknown)).toEqual(['no price', undefined, 'no price', undefined])
})
