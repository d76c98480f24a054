import { expect, it } from 'vitest'
import { createLiveFeed } from './live-feed.ts'
import { ChangeCollector, type RunChange } from './run-changes.ts'

const change = (run_id: string, fields: Partial<RunChange> = {}): RunChange => ({
  workspace_id: 'w1',
  project_id: 'p1',
  trace_id: 't1',
  run_id,
  version: 1,
  is_root: true,
  status: 'pending',
  ...fields,
})

function collectorOf(...changes: RunChange[]): ChangeCollector {
  const collector = new ChangeCollector(2)
  for (const one of changes) collector.add(one)
  return collector
}

it('the newest version of a run is sent, in whatever order the versions arrive', () => {
  const [older, newer] = [change('r1'), change('r1', { version: 2, status: 'success' })]
  for (const both of [
    [older, newer],
    [newer, older],
  ])
    expect(collectorOf(...both).take()).toEqual({ runs: [newer], more_in: [] })
})

it('beyond the limit only the projects are sent, and no change is sent twice', () => {
  const collector = collectorOf(change('r1'), change('r2'), change('r3'), change('r4', { project_id: 'p2' }))
  collector.add(change('r2', { version: 2 }))
  const { runs, more_in } = collector.take()
  expect(runs.map(({ run_id, version }) => [run_id, version])).toEqual([
    ['r1', 1],
    ['r2', 2],
  ])
  expect(more_in).toEqual(['w1/p1', 'w1/p2'])
  expect([collector.isEmpty, collector.take()]).toEqual([true, { runs: [], more_in: [] }])
})

it('a listener gets changes of its workspace only, until it is removed', () => {
  const feed = createLiveFeed(undefined)
  const heard: string[] = []
  const listen = (workspace_id: string) =>
    feed.listen(workspace_id, {
      changed: ({ run_id }) => void heard.push(`${workspace_id} ${run_id}`),
      more: (project_id) => void heard.push(`${workspace_id} more in ${String(project_id)}`),
    })
  const leave = listen('w1')
  listen('w2')
  feed.publish({ runs: [change('r1'), change('r2', { workspace_id: 'w2' })], more_in: ['w2/p9'] })
  leave()
  feed.publish({ runs: [change('r3')], more_in: ['w1/p1'] })
  expect(heard).toEqual(['w1 r1', 'w2 r2', 'w2 more in p9'])
})
