import { expect, it } from 'vitest'
import type { UsageQuery } from '../../../data/usage/lines.ts'
import { countedPath, countedQuery, summedQuery, unpricedPath } from './list-address.ts'

const query: UsageQuery = {
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-08T00:00:00.000Z',
  workspaces: ['w1', 'w2'],
  grouping: 'api_key',
  measure: 'traces',
}
const group = {
  id: 'k',
  name: 'a...b',
  selects: { api_key: 'a...b' },
  values: new Map(),
  total: '1',
  gaps: new Map(),
  unpriced: 0,
}

it('the address of a number says exactly which traces it counts', () => {
  const path = countedPath(query, group, '2026-03-02T00:00:00.000Z')
  expect(countedQuery(new URLSearchParams(path.split('?')[1]))).toEqual({
    start_time: query.from,
    end_time: query.to,
    workspace_ids: ['w1', 'w2'],
    time_bucket: '2026-03-02T00:00:00.000Z',
    api_key: 'a...b',
  })
  const ofWorkspace = countedPath(query, { ...group, selects: { workspace_ids: 'w2' } })
  expect(countedQuery(new URLSearchParams(ofWorkspace.split('?')[1])).workspace_ids).toEqual(['w2'])
})

it('the address of a sum says exactly which runs it adds up, and which runs have no cost', () => {
  const model = { ...group, selects: { provider: 'null', model: 'gpt' } }
  const path = countedPath({ ...query, measure: 'cost' }, model)
  expect(path.split('?')[0]).toBe('/usage/runs')
  const chosen = summedQuery(new URLSearchParams(path.split('?')[1]))
  expect(chosen).toMatchObject({ of: 'cost', provider: 'null', model: ['gpt'], start_time: query.from })
  const unpriced = summedQuery(new URLSearchParams(unpricedPath(query).split('?')[1]))
  expect(unpriced).toMatchObject({ of: 'unpriced', workspace_ids: ['w1', 'w2'] })
})

it('the address of several groups as one names those that are left out', () => {
  const others = { ...group, selects: { exclude_model: ['["openai","a,b"]', '[null,null]'] } }
  const path = countedPath({ ...query, measure: 'tokens' }, others)
  expect(summedQuery(new URLSearchParams(path.split('?')[1]))).toMatchObject({
    exclude_model: ['["openai","a,b"]', '[null,null]'],
  })
  const byUser = countedPath(query, { ...group, selects: { exclude_user_id: ['null', 'u'] } })
  expect(countedQuery(new URLSearchParams(byUser.split('?')[1])).exclude_user_id).toEqual(['null', 'u'])
})
