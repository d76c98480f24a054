import { describe, expect, it } from 'vitest'
import { parseJson } from './json-text.ts'

const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`

describe('parseJson', () => {
  it.each([
    ['{"a":', '}'],
    ['[', ']'],
  ])('takes %s down to 2,000 levels and no further', (open, close) => {
    expect(parseJson(nested(2000, open, close))).toMatchObject({ repaired: false })
    expect(parseJson(nested(2001, open, close))).toBeUndefined()
    expect(parseJson(nested(1_000_000, open, close))).toBeUndefined()
  })

  it('gives values that can be written again', () => {
    const text = nested(2000, '[', ']')
    expect(JSON.stringify(parseJson(text)?.value)).toBe(text)
  })

  it('does not take bare numbers in deep JSON for a way around', () => {
    expect(parseJson(nested(5000, '[NaN,', ']'))).toBeUndefined()
  })

  it('takes wide JSON of any size', () => {
    const wide = JSON.stringify(Array.from({ length: 100_000 }, (_, i) => ({ i })))
    expect(parseJson(wide)?.text).toBe(wide)
  })
})
