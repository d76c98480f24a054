import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deriveDottedOrder, dottedSegment, formatDottedOrder, parseDottedOrder } from './dotted-order.ts'
import { parseTime } from '../time.ts'
import { tries } from '../../../../test/support/properties.ts'

const ROOT = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'
const CHILD = '5886f37f-82a1-4058-9185-c8bc773996bd'
const TEXT = `20261120T091531685001Z${ROOT}.20261120T091532000000Z${CHILD}`
const SEGMENTS = [
  { time: parseTime('2026-11-20T09:15:31.685001Z'), id: ROOT },
  { time: parseTime('2026-11-20T09:15:32Z'), id: CHILD },
]

describe('parseDottedOrder', () => {
  it('returns time and id of every part', () => {
    expect(parseDottedOrder(TEXT)).toEqual({ ok: true, segments: SEGMENTS })
  })

  it('accepts ids without dashes or in upper case, and lower-case letters', () => {
    const odd = TEXT.replaceAll('-', '').toUpperCase().replaceAll('Z', 'z').replaceAll('T', 't')
    expect(parseDottedOrder(odd)).toEqual({ ok: true, segments: SEGMENTS })
  })

  it.each([
    ['', 'part 1 does not start with a time'],
    [`2026-11-20T09:15:31.685001Z${ROOT}`, 'part 1 does not start with a time'],
    [`20261120T091531Z${ROOT}`, 'part 1 does not start with a time'],
    [`20261320T091531685001Z${ROOT}`, 'part 1 does not start with a time'],
    ['20261120T091531685001Zroot', 'part 1 does not end with a uuid'],
    [`${TEXT}.`, 'part 3 does not start with a time'],
    [`20261120T091531685001Z${ROOT}..20261120T091532000000Z${CHILD}`, 'part 2 does not start with a time'],
  ])('describes the error in %s', (text, reason) => {
    expect(parseDottedOrder(text)).toEqual({ ok: false, reason: expect.stringContaining(reason) })
  })

  it('takes time linear in the length', () => {
    const text = Array.from({ length: 25_000 }, () => dottedSegment(0, CHILD)).join('.')
    const parsed = parseDottedOrder(text)
    expect(parsed.ok && parsed.segments.length).toBe(25_000)
  })
})

describe('deriveDottedOrder', () => {
  it('INGEST-12: is the own segment for a root, after the order of the parent for a child', () => {
    const root = deriveDottedOrder({ start_time: '2026-11-20T09:15:31.685001Z', id: ROOT })
    expect(root).toBe(TEXT.split('.')[0])
    const child = { parent_dotted_order: root, start_time: SEGMENTS[1]!.time!, id: CHILD }
    expect(deriveDottedOrder(child)).toBe(TEXT)
  })

  it('refuses an invalid time', () => {
    expect(() => dottedSegment('soon', ROOT)).toThrow(RangeError)
  })

  it('is reversed by parseDottedOrder', () => {
    const segment = fc.record({
      time: fc.integer({ min: 0, max: Date.UTC(2255, 0, 1) * 1000 }),
      id: fc.uuid(),
    })
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
        expect(parseDottedOrder(formatDottedOrder(segments))).toEqual({ ok: true, segments })
      }),
      tries(),
    )
  })
})
