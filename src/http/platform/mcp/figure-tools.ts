import { isObject, type JsonObject } from '../../../schema/json.ts'
import { ToolFailure } from './arguments.ts'
import { fitItems } from './budget.ts'
import { projectId, readTool } from './tool.ts'

const GROUPS = ['model', 'provider', 'run_type', 'name', 'status', 'tag'] as const
const SHOWN = [
  'run_count',
  'error_rate',
  'latency_p50',
  'latency_p99',
  'first_token_p50',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
  'total_cost',
]

export const runStatsTool = readTool(
  'run_stats',
  ['projects:read', 'runs:read'],
  'Figures of the runs of a project: counts, error rate (0 to 1), seconds of latency (p50, p99), tokens, cost.',
  {
    project_name: { type: 'text', required: true, description: 'Name of the project.' },
    filter: {
      type: 'text',
      description: 'A filter as in fetch_runs, e.g. gt(start_time, "2026-11-01T00:00:00Z").',
    },
    is_root: { type: 'flag', description: '"true": whole traces.' },
    group_by: { type: 'choice', choices: GROUPS, description: 'Figures for each value.' },
  },
  async (args, { ask, count }) => {
    const group = args.text('group_by')
    const body = {
      session: [await projectId(ask, args.required('project_name'))],
      filter: args.text('filter'),
      is_root: args.flag('is_root'),
      ...(group !== undefined && { group_by: { attribute: group, max_groups: 20 } }),
    }
    const stats = (await ask('POST /runs/stats', { body })) as JsonObject
    if (group === undefined) return JSON.stringify(shownOf(stats))
    const rows = Object.entries(stats).map(([name, figures]) => [
      name,
      isObject(figures) ? shownOf(figures) : null,
    ])
    const shown = fitItems(rows, count)
    const left = rows.length - shown.length
    const rest = left > 0 && { '…': `${left} groups are left out; a filter narrows the answer.` }
    return JSON.stringify({ ...Object.fromEntries(shown), ...rest })
  },
)

function shownOf(figures: JsonObject): JsonObject {
  return Object.fromEntries(SHOWN.map((key) => [key, figures[key] ?? null]))
}

const USAGE_GROUPS = ['workspace', 'project', 'user', 'api_key'] as const

export const billingUsageTool = readTool(
  'get_billing_usage',
  ['workspaces:read', 'organization:read'],
  'Exact counts of traces between two times, by workspace, project, user or API key.',
  {
    starting_on: { type: 'text', required: true, description: 'Start, ISO 8601.' },
    ending_before: { type: 'text', required: true, description: 'End, not included.' },
    workspace: { type: 'text', description: 'Id or name of one workspace; else all that the key may read.' },
    group_by: { type: 'choice', choices: USAGE_GROUPS, description: 'Default workspace.' },
  },
  async (args, { ask, count, workspace_ids }) => {
    const asked = args.text('workspace')
    const ids = asked === undefined ? workspace_ids : [await workspaceId(ask, asked)]
    const query = {
      start_time: args.required('starting_on'),
      end_time: args.required('ending_before'),
      workspace_ids: ids.join(','),
      group_by: args.text('group_by') ?? 'workspace',
    }
    const { usage } = (await ask('GET /orgs/current/billing/granular-usage', { query })) as {
      usage: { dimensions: JsonObject; traces: number }[]
    }
    const sums = new Map<string, { dimensions: JsonObject; traces: number }>()
    for (const { dimensions, traces } of usage) {
      const key = JSON.stringify(dimensions)
      const sum = sums.get(key) ?? { dimensions, traces: 0 }
      sum.traces += traces
      sums.set(key, sum)
    }
    const groups = [...sums.values()].toSorted((a, b) => b.traces - a.traces)
    const total = groups.reduce((all, { traces }) => all + traces, 0)
    const shown = fitItems(groups, count)
    const left = groups.length - shown.length
    return JSON.stringify({
      traces: total,
      groups: shown,
      groups_left_out: left,
      ...(left > 0 && { next: 'workspace, a shorter time or another group_by narrows the answer.' }),
    })
  },
)

async function workspaceId(ask: (name: string) => Promise<unknown>, asked: string): Promise<string> {
  const workspaces = (await ask('GET /workspaces')) as { id: string; display_name: string }[]
  const found = workspaces.find(({ id, display_name }) => id === asked || display_name === asked)
  if (found !== undefined) return found.id
  const names = workspaces.map(({ display_name }) => display_name).join(', ')
  throw new ToolFailure(`There is no workspace "${asked.slice(0, 200)}". Workspaces: ${names}.`)
}
