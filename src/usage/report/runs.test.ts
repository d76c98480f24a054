import { expect, it } from 'vitest'
import { newUuid } from '../../base/ids.ts'
import { listUsageRuns, type UsageRun } from './runs.ts'

it('ui §5: the tokens of a run are null while unknown, never 0', async () => {
  const workspace_id = newUuid()
  const run = (prompt_tokens: number | null, completion_tokens: number | null): UsageRun => ({
    ...{ workspace_id, project_id: newUuid(), user_id: newUuid(), api_key_id: newUuid() },
    ...{ trace_id: newUuid(), run_id: newUuid(), name: 'call', run_type: 'llm', provider: '', model: '' },
    ...{ time: 0, prompt_tokens, completion_tokens, total_cost: '0.1', estimated_cost: '0' },
  })
  const runs = [run(null, null), run(0, null), run(7, 5)]
  const none = new Map<string, string>()
  const names = { workspaces: none, projects: none, emails: none, short_keys: none }
  const { items } = await listUsageRuns(
    { list: () => Promise.resolve(runs) },
    {
      workspace_ids: [workspace_id],
      ...{ start: 0, end: 3_600_000, bucket: undefined, of: 'cost', limit: 10, cursor: undefined },
      ...{ project_id: undefined, user_id: undefined, api_key: undefined },
      ...{ provider: undefined, model: undefined, excluded_models: [] },
      excluded: { project_id: [], user_id: [], api_key: [] },
    },
    () => Promise.resolve(names),
  )
  expect(items.map(({ total_tokens }) => total_tokens)).toEqual([null, 0, 12])
})
