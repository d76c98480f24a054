import { describe, expect, it } from 'vitest'
import { monthOf, rangeOf } from '../../data/usage/range.ts'
import { bucketStarts, seriesOf, tableOf, withRest } from './table.ts'

const DAY = { days: 1, hours: 0 }
const range = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-04T00:00:00.000Z', stride: DAY }
const project = (id: string) => ({ project_id: id, project_name: `name of ${id}` })
const line = (day: number, id: string, value: string | null) => ({
  time_bucket: `2026-03-0${day}T00:00:00Z`,
  dimensions: project(id),
  value,
  unpriced: 1,
})

describe('the table of a usage report', () => {
  it('has every bucket, the largest group first, and exact sums', () => {
    const table = tableOf(range, [line(1, 'a', '0.1'), line(1, 'b', '5'), line(3, 'a', '0.2')])
    expect(table.buckets.map((time) => time.slice(8, 10))).toEqual(['01', '02', '03'])
    expect(table.groups.map(({ name, total }) => [name, total])).toEqual([
      ['name of b', '5'],
      ['name of a', '0.3'],
    ])
    expect([table.total, table.unpriced]).toEqual(['5.3', 3])
    expect(table.groups[1]?.values.has('2026-03-02T00:00:00.000Z')).toBe(false)
  })

  it('does not turn an unknown cost into zero', () => {
    const table = tableOf(range, [line(1, 'a', null), line(1, 'b', '0')])
    expect(table.groups.map(({ total }) => total)).toEqual(['0', null])
    expect(tableOf(range, [line(1, 'a', null)]).total).toBeNull()
  })

  it('says how to select the records of a group, also of those without a user', () => {
    const select = (dimensions: Parameters<typeof tableOf>[1][number]['dimensions']) =>
      tableOf(range, [{ ...line(1, 'a', '1'), dimensions }]).groups[0]?.selects
    expect(select(project('p'))).toEqual({ project_id: 'p' })
    expect(select({ user_id: null, user_email: null })).toEqual({ user_id: 'null' })
    expect(select({ api_key_short_key: 'abcd...wxyz' })).toEqual({ api_key: 'abcd...wxyz' })
    expect(select({ workspace_id: 'w', workspace_name: 'W' })).toEqual({ workspace_ids: 'w' })
    const nameless = { provider: 'openai', model: null, base_model: null }
    expect(select(nameless)).toEqual({ provider: 'openai', model: 'null' })
  })

  it('a model under two spellings is one group with its versions, and selects the runs of both', () => {
    const model = (name: string, base_model = 'gpt-4.1-mini') => ({
      provider: 'openai',
      model: name,
      base_model,
    })
    const { groups, total } = tableOf(range, [
      { ...line(1, '', '2'), dimensions: model('gpt-4.1-mini') },
      { ...line(1, '', '5'), dimensions: model('gpt-4.1-mini-2025-04-14') },
      { ...line(2, '', '1'), dimensions: model('gpt-4.1-mini') },
      { ...line(2, '', '4'), dimensions: model('gpt-4.1', 'gpt-4.1') },
    ])
    expect(groups.map(({ name, total: sum }) => [name, sum])).toEqual([
      ['openai · gpt-4.1-mini', '8'],
      ['openai · gpt-4.1', '4'],
    ])
    expect(groups[0]?.versions?.map(({ name, total: sum }) => [name, sum])).toEqual([
      ['openai · gpt-4.1-mini-2025-04-14', '5'],
      ['openai · gpt-4.1-mini', '3'],
    ])
    expect(groups[0]?.selects).toEqual({
      provider: 'openai',
      model: ['gpt-4.1-mini', 'gpt-4.1-mini-2025-04-14'],
    })
    expect([...(groups[0]?.values.values() ?? [])]).toEqual(['7', '1'])
    expect([groups[1]?.versions, total]).toEqual([undefined, '12'])
  })

  it('counts the calls without a price of each group and bucket, and of versions and others together', () => {
    const lines = Array.from({ length: 14 }, (_, index) => line(2, `p${index}`, String(100 - index)))
    const { groups, buckets } = tableOf(range, [...lines, line(1, 'p0', '1')])
    expect([groups[0]?.unpriced, [...(groups[0]?.gaps.values() ?? [])]]).toEqual([2, [1, 1]])
    expect(seriesOf(groups, buckets).at(-1)).toMatchObject({ unpriced: 3 })
  })

  it('by a key of the metadata, has a group of what has no value, and selects the others by value', () => {
    const of = (value: string | null, sum: string, traces: number, unpriced = 0) => ({
      ...line(1, '', sum),
      dimensions: { metadata_value: value },
      traces,
      unpriced,
    })
    const lines = withRest([of('a', '0.3', 2, 1), of('b', '0.1', 1)], [of(null, '0.55', 5, 3)])
    const { groups } = tableOf(range, lines)
    expect(groups.map(({ name, total, unpriced, selects }) => [name, total, unpriced, selects])).toEqual([
      ['a', '0.3', 1, { value: 'a' }],
      ['(none)', '0.15', 2, { without: 'yes' }],
      ['b', '0.1', 0, { value: 'b' }],
    ])
    expect(withRest([of('a', '0.3', 2)], [of(null, '0.3', 2)])).toHaveLength(1)
  })

  it('selects other values by what they are, or by what they are not if those without a value are among them', () => {
    const values = Array.from({ length: 14 }, (_, index) => ({
      ...line(2, '', String(100 - index)),
      dimensions: { metadata_value: `v${index}` },
    }))
    const none = (sum: string) => ({ ...line(2, '', sum), dimensions: { metadata_value: null } })
    const othersOf = (lines: Parameters<typeof tableOf>[1]) => {
      const { groups, buckets } = tableOf(range, lines)
      return seriesOf(groups, buckets).at(-1)?.selects
    }
    expect(othersOf(values)).toEqual({ one_of: ['v11', 'v12', 'v13'] })
    expect(othersOf([...values, none('1')])).toEqual({
      except: Array.from({ length: 11 }, (_, index) => `v${index}`),
    })
    expect(othersOf([...values, none('500')])).toEqual({ one_of: ['v10', 'v11', 'v12', 'v13'] })
  })

  it('adds groups beyond the eleventh up to one series', () => {
    const lines = Array.from({ length: 14 }, (_, index) => line(2, `p${index}`, String(100 - index)))
    const { groups, buckets } = tableOf(range, lines)
    const series = seriesOf(groups, buckets)
    expect(series).toHaveLength(12)
    expect([series[11]?.name, series[11]?.total]).toEqual(['3 others', String(89 + 88 + 87)])
    expect(series[11]?.selects).toEqual({ exclude_project_id: groups.slice(0, 11).map(({ id }) => id) })
    expect(seriesOf(groups.slice(0, 12), buckets)).toHaveLength(12)
  })
})

it('the series of the other groups selects all records but those of the shown groups', () => {
  const select = (dimensions: (place: number) => Parameters<typeof tableOf>[1][number]['dimensions']) => {
    const lines = Array.from({ length: 13 }, (_, place) => ({
      ...line(2, 'p', String(100 - place)),
      dimensions: dimensions(place),
    }))
    const { groups, buckets } = tableOf(range, lines)
    return seriesOf(groups, buckets)[11]?.selects
  }
  const shown = <T>(name: (place: number) => T): T[] => Array.from({ length: 11 }, (_, place) => name(place))
  expect(select((n) => ({ user_id: n === 0 ? null : `u${n}`, user_email: null }))).toEqual({
    exclude_user_id: shown((n) => (n === 0 ? 'null' : `u${n}`)),
  })
  expect(select((n) => ({ api_key_short_key: `k${n}` }))).toEqual({ exclude_api_key: shown((n) => `k${n}`) })
  expect(select((n) => ({ provider: null, model: `m,${n}`, base_model: `m,${n}` }))).toEqual({
    exclude_model: shown((n) => `[null,"m,${n}"]`),
  })
  expect(select((n) => ({ workspace_id: `w${n}`, workspace_name: 'w' }))).toEqual({
    workspace_ids: 'w11,w12',
  })
})

describe('buckets and ranges', () => {
  it('are aligned as the server aligns them', () => {
    expect(bucketStarts('2026-03-01T10:20:00Z', '2026-03-01T12:00:00Z', { days: 0, hours: 1 })).toEqual([
      '2026-03-01T10:00:00.000Z',
      '2026-03-01T11:00:00.000Z',
    ])
    expect(bucketStarts('2026-03-01T10:00:00Z', '2026-03-10T00:00:00Z', { days: 7, hours: 0 })).toEqual([
      '2026-03-01T00:00:00.000Z',
      '2026-03-08T00:00:00.000Z',
    ])
  })

  it('end with the current hour, day or month', () => {
    const now = Date.parse('2026-12-31T10:20:30Z')
    expect(rangeOf('12h', now)).toEqual({ from: '2026-12-30T23:00:00.000Z', to: '2026-12-31T11:00:00.000Z' })
    expect(rangeOf('7d', now)).toEqual({ from: '2026-12-25T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' })
    expect(monthOf(now)).toEqual({ from: '2026-12-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' })
  })
})
