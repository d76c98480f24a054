import { expect, it } from 'vitest'
import { columnDuration, countText, shortCount, UNKNOWN } from './numbers.ts'

it('ui §5: unknown counts are never 0', () => {
  for (const text of [countText, shortCount]) {
    for (const unknown of [null, undefined, Number.NaN]) expect(text(unknown)).toBe(UNKNOWN)
    expect(text(0)).toBe('0')
  }
})

it('seconds of a column have two decimals, other durations are those of texts', () => {
  const shown = [undefined, 400, 12_000, 2e6, 3_800_000, 41.238e6, 65e6].map(columnDuration)
  expect(shown).toEqual(['–', '400 µs', '12 ms', '2.00 s', '3.80 s', '41.24 s', '1 m 5 s'])
})
