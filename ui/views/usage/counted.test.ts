import { expect, it } from 'vitest'
import type { UsageQuery } from '../../data/usage/lines.ts'
import { countedPath, countedQuery } from './counted.ts'

const query: UsageQuery = {
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-08T00:00:00.000Z',
  workspaces: ['w1', 'w2'],
  grouping: 'api_key',
  measure: 'traces',
}
const group = { id: 'k', name: 'a...b', traces: { api_key: 'a...b' }, values: new Map(), total: '1' }

it('the address of a number says exactly which traces it counts', () => {
  const path = countedPath(query, group, '2026-03-02T00:00:00.000Z') ?? ''
  expect(countedQuery(new URLSearchParams(path.split('?')[1]))).toEqual({
    start_time: query.from,
    end_time: query.to,
    workspace_ids: ['w1', 'w2'],
    time_bucket: '2026-03-02T00:00:00.000Z',
    api_key: 'a...b',
  })
  const ofWorkspace = countedPath(query, { ...group, traces: { workspace_ids: 'w2' } }) ?? ''
  expect(countedQuery(new URLSearchParams(ofWorkspace.split('?')[1])).workspace_ids).toEqual(['w2'])
})

it('tokens, and several groups as one, have no list of counted traces', () => {
  expect(countedPath({ ...query, measure: 'tokens' }, group)).toBeUndefined()
  expect(countedPath(query, { ...group, traces: undefined })).toBeUndefined()
})
