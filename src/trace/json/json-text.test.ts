import { describe, expect, it } from 'vitest'
import { parseJson } from './json-text.ts'

const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`

describe('parseJson', () => {
  it.each([
    ['{"a":', '}'],
    ['[', ']'],
  ])('reads %s down to 2,000 levels and no further', (open, close) => {
    expect(parseJson(nested(2000, open, close))).toMatchObject({ repaired: false })
    expect(parseJson(nested(2001, open, close))).toBeUndefined()
    expect(parseJson(nested(1_000_000, open, close))).toBeUndefined()
  })

  it('returns values that can be written again', () => {
    const text = nested(2000, '[', ']')
    expect(JSON.stringify(parseJson(text)?.value)).toBe(text)
  })

  it('refuses deep JSON also with bare numbers in it', () => {
    expect(parseJson(nested(5000, '[NaN,', ']'))).toBeUndefined()
  })

  it('reads wide JSON of any size', () => {
    const wide = JSON.stringify(Array.from({ length: 100_000 }, (_, i) => ({ i })))
    expect(parseJson(wide)?.text).toBe(wide)
  })
})
