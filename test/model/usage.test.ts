import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rangeOf, reportUsage } from '../../src/usage/report/granular-usage.ts'
import { bucketOf, strideMillis } from '../../src/usage/report/stride.ts'
import { GROUPINGS } from '../../src/usage/report/source.ts'
import { type CountedTrace, memoryUsageSource } from '../support/usage/memory-source.ts'
import { tries } from '../support/properties.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = Date.UTC(2026, 5, 1)
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** Ranges of every stride. Their starts are at, before and after the beginning of hours and days. */
const range = fc
  .tuple(
    fc.integer({ min: -800, max: 0 }),
    fc.constantFrom(0, 1, HOUR - 1, HOUR, 12 * HOUR + 5, DAY - 1),
    fc.oneof(
      fc.integer({ min: 1, max: 2 * DAY }),
      fc.integer({ min: 1, max: 120 }).map((days) => days * DAY),
      fc.integer({ min: DAY, max: 1200 * DAY }),
    ),
  )
  .map(([day, inDay, length]) => {
    const start = NOW + day * DAY + inDay
    return { start, end: start + length }
  })

const trace = fc.record({
  workspace_id: fc.constantFrom(id(1), id(2), id(3)),
  time: fc.oneof(
    fc.integer({ min: NOW - 800 * DAY, max: NOW + 400 * DAY }),
    fc.integer({ min: -800, max: 400 }).map((day) => NOW + day * DAY),
  ),
  project_id: fc.constantFrom(id(11), id(12)),
  user_id: fc.constantFrom(null, id(21)),
  api_key_id: fc.constantFrom(id(31), id(32)),
}) satisfies fc.Arbitrary<CountedTrace>

const NO_NAMES = { workspaces: new Map(), projects: new Map(), emails: new Map(), short_keys: new Map() }

describe('usage reports', () => {
  it('have buckets that cover the range without gap or overlap', () => {
    fc.assert(
      fc.property(range, fc.double({ min: 0, max: 1, noNaN: true }), ({ start, end }, share) => {
        const { origin, stride } = rangeOf(start, end)
        const size = strideMillis(stride)
        expect(origin).toBeLessThanOrEqual(start)
        expect(start - origin).toBeLessThan(stride.hours > 0 ? HOUR : DAY)
        const time = Math.floor(start + share * (end - 1 - start))
        const bucket = bucketOf(time, origin, stride)
        expect(bucket).toBeLessThanOrEqual(time)
        expect(time).toBeLessThan(bucket + size)
        expect((bucket - origin) % size).toBe(0)
        expect(bucketOf(bucket - 1, origin, stride)).toBe(bucket - size)
        expect(bucketOf(bucket + size, origin, stride)).toBe(bucket + size)
        expect(bucket).toBeGreaterThanOrEqual(origin)
      }),
      tries(),
    )
  })

  it('add up to the traces of the range, for any stride and grouping', async () => {
    const input = [range, fc.array(trace, { maxLength: 60 }), fc.constantFrom(...GROUPINGS)] as const
    await fc.assert(
      fc.asyncProperty(...input, async ({ start, end }, traces, group_by) => {
        const workspace_ids = [id(1), id(2)]
        const source = memoryUsageSource(traces)
        const request = { workspace_ids, start, end, group_by }
        const { stride, usage } = await reportUsage(source, request, async () => NO_NAMES)
        const counted = usage.reduce((sum, line) => sum + line.traces, 0)
        const inside = traces.filter(
          ({ workspace_id, time }) => workspace_ids.includes(workspace_id) && time >= start && time < end,
        )
        expect(counted).toBe(inside.length)
        const starts = usage.map(({ time_bucket }) => Date.parse(time_bucket))
        expect(starts).toEqual(starts.toSorted((a, b) => a - b))
        for (const line of new Set(starts)) {
          const lines = usage.filter((_, i) => starts[i] === line)
          const expected = inside.filter(({ time }) => time >= line && time < line + strideMillis(stride))
          expect(lines.reduce((sum, { traces: n }) => sum + n, 0)).toBe(expected.length)
        }
      }),
      tries(),
    )
  })
})
