import { describe, expect, it } from 'vitest'
import { endsOf } from './ranges.ts'

const NOW = Date.parse('2026-03-01T10:20:30.456Z')

describe('a named range', () => {
  it('is back from now, cut to a minute', () => {
    expect(endsOf('1h', 'utc', NOW)).toEqual({ since: '2026-03-01T09:20:00.000Z', until: '' })
    expect(endsOf('1d', 'utc', NOW)).toEqual({ since: '2026-02-28T10:20:00.000Z', until: '' })
    expect(endsOf('all', 'utc', NOW)).toEqual({ since: '', until: '' })
  })

  it('is a day or a month of the zone, and yesterday has an end', () => {
    expect(endsOf('today', 'utc', NOW)).toEqual({ since: '2026-03-01T00:00:00.000Z', until: '' })
    expect(endsOf('month', 'utc', NOW)).toEqual({ since: '2026-03-01T00:00:00.000Z', until: '' })
    expect(endsOf('yesterday', 'utc', NOW)).toEqual({
      since: '2026-02-28T00:00:00.000Z',
      until: '2026-03-01T00:00:00.000Z',
    })
    const local = endsOf('yesterday', 'local', NOW)
    expect([new Date(local.since).getHours(), new Date(local.until).getHours()]).toEqual([0, 0])
    expect(new Date(local.until).getDate()).toBe(new Date(NOW).getDate())
  })
})
