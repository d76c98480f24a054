import { expect, it } from 'vitest'
import { countText, shortCount, UNKNOWN } from './numbers.ts'

it('ui §5: unknown counts are never 0', () => {
  for (const text of [countText, shortCount]) {
    for (const unknown of [null, undefined, Number.NaN]) expect(text(unknown)).toBe(UNKNOWN)
    expect(text(0)).toBe('0')
  }
})
