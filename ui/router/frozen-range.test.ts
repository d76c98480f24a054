import { describe, expect, it } from 'vitest'
import { frozenAddress } from './frozen-range.ts'

const NOW = Date.parse('2026-11-23T12:00:00Z')
const [FROM, END] = ['2026-11-22T12:00:00.000Z', '2026-11-23T12:00:00.000Z']

describe('an address that is frozen (ui §5, Y)', () => {
  const frozen = (href: string, from: string, to: string) =>
    Object.fromEntries(new URL(frozenAddress(href, { from, to }, NOW)).searchParams)

  it('has the times of a range back from now in place of its name, all else stays', () => {
    const all = frozen('http://h/app/projects/a?view=runs&t=1d&q=x', FROM, '')
    expect(all).toEqual({ view: 'runs', q: 'x', from: FROM, to: END })
  })

  it('has the times of the default range, which the address does not name', () => {
    expect(frozen('http://h/app/usage?by=model', FROM, END)).toEqual({ by: 'model', from: FROM, to: END })
    expect(frozen('http://h/app/projects/a', '', '')).toEqual({ to: END })
  })

  it('keeps the times that it has, and stays as it is on a page without a range', () => {
    const both = `http://h/app/usage?from=${FROM}&to=${END}`
    expect(frozen(both, FROM, END)).toEqual({ from: FROM, to: END })
    expect(frozenAddress('http://h/app/traces/a?t=1d', undefined, NOW)).toBe('http://h/app/traces/a?t=1d')
  })
})
