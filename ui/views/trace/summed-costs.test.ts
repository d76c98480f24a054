import { expect, it } from 'vitest'
import { outlineOfRuns } from '../../data/outline.ts'
import { withSummedCosts } from './summed-costs.ts'

it('gives runs above model calls the exact sum of the costs below them', () => {
  const run = (id: string, parent_run_id: string | undefined, total_cost?: number) => ({
    id,
    ...(parent_run_id !== undefined && { parent_run_id }),
    name: id,
    start_time: `2026-01-01T00:00:0${id.length}Z`,
    ...(total_cost !== undefined && { total_cost }),
  })
  const runs = [
    run('a', undefined),
    run('bb', 'a'),
    run('ccc', 'bb', 0.1),
    run('dddd', 'bb', 0.2),
    run('eeeee', 'a', 1),
    run('ffffff', 'eeeee', 0.5),
    run('ggggggg', 'a'),
  ]
  const { ids, costs } = withSummedCosts(outlineOfRuns(runs, {}))
  expect(Object.fromEntries(ids.map((id, at) => [id.length, costs[at]]))).toEqual({
    1: '1.3',
    2: '0.3',
    3: '0.1',
    4: '0.2',
    5: '1',
    6: '0.5',
    7: undefined,
  })
})
