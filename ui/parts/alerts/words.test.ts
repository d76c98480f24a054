import { expect, it } from 'vitest'
import { enteredText, figureText, thresholdOf } from './words.ts'

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

it('shows values with their units', () => {
  expect(figureText('error_rate', '0.123456')).toBe('12.35%')
  expect(figureText('latency_p95', '1.5')).toBe('1.5 s')
  expect(figureText('total_cost', '0.000318')).toBe('$0.000318')
  expect(figureText('run_count', '1420')).toBe('1,420')
})
