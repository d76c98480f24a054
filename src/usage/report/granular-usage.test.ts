import { describe, expect, it } from 'vitest'
import { type CountedTrace, memoryUsageSource } from '../../../test/support/usage/memory-source.ts'
import { AppError } from '../../base/errors.ts'
import type { UsageNames } from './dimensions.ts'
import { rangeOf, reportUsage } from './granular-usage.ts'
import type { Grouping, UsageQuery } from './source.ts'
import { parseUsageTime } from './time.ts'

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const [A, B] = [id(1), id(2)]
const [P, Q] = [id(11), id(12)]
const at = (text: string): number => parseUsageTime(text)!
const trace = (time: string, fields: Partial<CountedTrace> = {}): CountedTrace => ({
  workspace_id: A,
  time: at(time),
  project_id: P,
  user_id: id(21),
  api_key_id: id(31),
  ...fields,
})
const NAMES: UsageNames = {
  workspaces: new Map([[A, 'Alpha']]),
  projects: new Map([
    [`${A}/${P}`, 'web'],
    [`${B}/${P}`, 'batch'],
  ]),
  emails: new Map([[id(21), 'ada@example.com']]),
  short_keys: new Map([
    [id(31), 'lsv2...zzzz'],
    [id(32), 'lsv2...aaaa'],
  ]),
}
const TRACES = [
  trace('2026-01-15T10:00:00Z'),
  trace('2026-01-15T11:00:00Z', { user_id: null, api_key_id: id(32) }),
  trace('2026-01-16T00:00:00Z', { workspace_id: B }),
  trace('2026-01-16T00:00:00Z', { project_id: Q }),
  trace('2026-01-16T00:00:00Z', { user_id: null }),
]
const DAYS = { workspace_ids: [A, B], start: at('2026-01-15T10:30:00Z'), end: at('2026-01-17') }
const source = memoryUsageSource(TRACES)
const loadNames = async (): Promise<UsageNames> => NAMES

describe('reportUsage', () => {
  it('USAGE-7, D-31: counts [start, end) exactly in buckets that may begin before it', async () => {
    expect(await reportUsage(source, { ...DAYS, group_by: 'workspace' }, loadNames)).toEqual({
      stride: { days: 1, hours: 0 },
      usage: [
        {
          time_bucket: '2026-01-15T00:00:00Z',
          dimensions: { workspace_id: A, workspace_name: 'Alpha' },
          traces: 1,
        },
        {
          time_bucket: '2026-01-16T00:00:00Z',
          dimensions: { workspace_id: A, workspace_name: 'Alpha' },
          traces: 2,
        },
        {
          time_bucket: '2026-01-16T00:00:00Z',
          dimensions: { workspace_id: B, workspace_name: B },
          traces: 1,
        },
      ],
    })
  })

  it('USAGE-8: shows the keys of the grouping and no others, ordered by bucket and dimension', async () => {
    const grouped = async (group_by: Grouping) =>
      (await reportUsage(source, { ...DAYS, start: at('2026-01-15'), group_by }, loadNames)).usage.map(
        ({ time_bucket, dimensions, traces }) => [time_bucket.slice(8, 10), dimensions, traces],
      )
    expect(await grouped('project')).toEqual([
      ['15', { project_id: P, project_name: 'web' }, 2],
      ['16', { project_id: P, project_name: 'web' }, 1],
      ['16', { project_id: P, project_name: 'batch' }, 1],
      ['16', { project_id: Q, project_name: Q }, 1],
    ])
    const ada = { user_id: id(21), user_email: 'ada@example.com' }
    const nobody = { user_id: null, user_email: null }
    expect(await grouped('user')).toEqual([
      ['15', ada, 1],
      ['15', nobody, 1],
      ['16', ada, 2],
      ['16', nobody, 1],
    ])
    expect(await grouped('api_key')).toEqual([
      ['15', { api_key_short_key: 'lsv2...aaaa' }, 1],
      ['15', { api_key_short_key: 'lsv2...zzzz' }, 1],
      ['16', { api_key_short_key: 'lsv2...zzzz' }, 3],
    ])
  })

  it('reads no source without workspaces, and no names without usage', async () => {
    const never = () => Promise.reject(new Error('asked'))
    const none = { ...DAYS, workspace_ids: [], group_by: 'workspace' } as const
    expect(await reportUsage({ count: never }, none, never)).toMatchObject({ usage: [] })
    const empty = { ...none, workspace_ids: [id(9)] }
    expect(await reportUsage(source, empty, never)).toEqual({ stride: { days: 1, hours: 0 }, usage: [] })
  })
})

describe('rangeOf', () => {
  it.each([
    ['2026-01-15', '2026-01-15'],
    ['2026-01-16', '2026-01-15'],
    ['2026-01-15T00:00:00.000001Z', '2026-01-15T00:00:00.000001Z'],
  ])('USAGE-4: refuses %s to %s', (start, end) => {
    const refused = new AppError('invalid_request', { message: 'end_time must be after start_time' })
    expect(() => rangeOf(at(start), at(end))).toThrow(refused)
  })

  it('rounds up to the millisecond that traces are counted by', () => {
    const range = rangeOf(at('2026-01-15T00:00:00.000001Z'), at('2026-01-15T00:00:00.000002Z'))
    expect([range.start, range.end]).toEqual([at('2026-01-15') + 1, at('2026-01-15') + 1])
  })

  it('keeps its buckets for a range beyond all valid times', () => {
    const far = rangeOf(at('0001-01-01'), at('9999-12-31T23:59:59.999999'))
    const year = 365 * 86_400_000
    expect(far.stride).toEqual({ days: 365, hours: 0 })
    expect((far.origin - at('0001-01-01')) % year).toBe(0)
    expect(far.start).toBe(Date.UTC(1900, 0, 1))
    expect(far.start - far.origin).toBeLessThan(year)
    expect(far.end).toBe(Date.UTC(2299, 0, 1))
    const past: Pick<UsageQuery, 'start' | 'end'> = rangeOf(at('0001-01-01'), at('0001-01-02'))
    expect(past.start).toBe(past.end)
  })
})
