import { expect, it } from 'vitest'
import type { Alert } from '../../api/platform.gen.ts'
import { alertName, enteredText, figureText, thresholdOf, valueText } from './words.ts'

it('enters shares as percent, without digits of binary fractions', () => {
  for (const [entered, threshold] of [
    ['5', '0.05'],
    ['1.1', '0.011'],
    ['99.95', '0.9995'],
    ['100', '1'],
    ['0', '0'],
  ] as const) {
    expect(thresholdOf('error_rate', entered)).toBe(threshold)
    expect(enteredText('error_rate', threshold)).toBe(entered)
  }
  expect(thresholdOf('total_cost', ' 0.10 ')).toBe('0.10')
})

it('names an alert after its figure, what it is of, and its group', () => {
  expect(alertName('error_rate', 'llm')).toBe('Error rate of model calls')
  expect(alertName('latency_p95', 'traces', 'gpt-4.1')).toBe('Latency p95 of traces, gpt-4.1')
  expect(alertName('run_count', 'all', 'x'.repeat(200))).toHaveLength(100)
})

it('shows values with their units', () => {
  expect(figureText('error_rate', '0.123456')).toBe('12.35%')
  expect(figureText('latency_p95', '1.5')).toBe('1.5 s')
  expect(figureText('total_cost', '0.000318')).toBe('$0.000318')
  expect(figureText('run_count', '1420')).toBe('1,420')
})

it('marks the value of an alert on costs that leaves out calls without a price', () => {
  const of = (figure: Alert['figure'], value: string | null, unpriced_runs: number | null = null) =>
    valueText({ figure, value, unpriced_runs } as Alert)
  expect(of('total_cost', '0.2', 0)).toBe('$0.2')
  expect(of('total_cost', '0.2', 3)).toBe('≥ $0.2')
  expect(of('total_cost', null, 3)).toBe('no price')
  expect([of('total_cost', null), of('latency_p95', null), of('run_count', '5')]).toEqual(['–', '–', '5'])
})
