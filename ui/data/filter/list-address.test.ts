import { describe, expect, it } from 'vitest'
import { listPart, listQuery, sortOf } from './list-address.ts'

describe('the list in the address of a trace', () => {
  it('has the filter, range and order of the page of the project, and nothing else of its address', () => {
    const part = listPart(
      '?view=runs&q=eq(status,"error")&from=2026-01-01T00:00:00Z&sort=-latency&cols=name&ws=w',
    )
    expect(listQuery('p', part)).toEqual({
      project: 'p',
      filter: 'eq(status,"error")',
      isRoot: false,
      since: '2026-01-01T00:00:00Z',
      until: '',
      sort: { by: 'latency', order: 'asc' },
    })
  })

  it('is the list of all traces where the address has none of them, or words that are not known', () => {
    const all = { project: 'p', filter: '', isRoot: true, since: '', until: '', sort: undefined }
    expect([listPart('?cols=name'), listQuery('p', '')]).toEqual(['', all])
    expect(listQuery('p', 't=century&sort=colour&view=overview')).toEqual(all)
  })
})

it('the address names the order of a list', () => {
  expect(['', 'latency', '-total_cost', 'name', '-'].map(sortOf)).toEqual([
    undefined,
    { by: 'latency', order: 'desc' },
    { by: 'total_cost', order: 'asc' },
    undefined,
    undefined,
  ])
})
