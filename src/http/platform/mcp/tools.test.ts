import { describe, expect, it } from 'vitest'
import { PERMISSIONS, type Permission } from '../../../identity/permissions.ts'
import { NOBODY } from '../../server/dispatch.ts'
import { assertAllowed, routeName } from '../../api/access.ts'
import { platformRoutes } from '../routes.ts'
import { createTokenCounter } from './budget.ts'
import { platformTools, toolServer } from './tools.ts'

const ROUTES = new Map(platformRoutes().map((route) => [routeName(route), route]))
const ID = '11111111-1111-4111-8111-111111111111'
const RUN = { id: ID, trace_id: ID, name: 'r', run_type: 'llm', extra: { metadata: { ls_model_name: 'm' } } }
const OUTLINE = {
  trace_id: ID,
  run_count: 0,
  is_truncated: false,
  totals: null,
  columns: {},
  names: [],
  runs: [],
}
const ANSWERS: Record<string, unknown> = {
  'GET /sessions': [{ id: ID, name: 'p' }],
  'POST /runs/query': { runs: [RUN] },
  'GET /runs/{id}': { ...RUN, llm: { model: 'm', provider: 'v' } },
  'GET /traces/{trace_id}': OUTLINE,
  'POST /traces/{trace_id}/search': [],
  'POST /runs/stats': {},
  'GET /model-price-map/lookup': { price: null },
  'GET /orgs/current/billing/granular-usage': { usage: [] },
  'GET /workspaces': [{ id: ID, display_name: 'w' }],
  'POST /runs/validate': {},
}
const ARGS: Record<string, Record<string, string>> = {
  fetch_runs: { project_name: 'p' },
  read_trace: { trace_id: ID },
  read_run: { run_id: ID },
  search_trace: { trace_id: ID, query: 'x' },
  explain_cost: { run_id: ID },
  compare: { a: ID, b: ID },
  run_stats: { project_name: 'p' },
  get_thread_history: { thread_id: 't', project_name: 'p' },
  get_billing_usage: { starting_on: '2026-01-01', ending_before: '2026-02-01', workspace: 'w' },
  validate_runs: { payload: '{}' },
  search_docs: { query: 'retention' },
  read_doc: { page: 'README' },
}

/** Calls a tool with these permissions; the routes that it asks are refused as the server refuses them. */
async function call(name: string, permissions: readonly Permission[]) {
  const principal = { ...NOBODY, workspace_chosen: true, permissions: new Set(permissions) }
  const used = new Set<string>()
  const ask = async (route: string): Promise<unknown> => {
    const asked = ROUTES.get(route)
    if (asked === undefined) throw new Error(`There is no route ${route}.`)
    used.add(asked.needs)
    assertAllowed(principal, asked)
    return ANSWERS[route]
  }
  const context = { ask, count: createTokenCounter(), workspace_ids: [ID], now: 0 }
  const args = ARGS[name] ?? {}
  const { isError, content } = await toolServer(platformTools(), context, '1')
    .call({ name, args, params: {} })
    // Answers of routes are not whole here.
    .catch(() => ({ isError: false, content: [] }))
  const text = String(content[0]?.['text'] ?? '')
  return { isRefused: isError === true && text.startsWith('Forbidden'), used: [...used] }
}

describe('TRC-1: the permissions of tools', () => {
  it('only read', () => {
    const needs = platformTools().flatMap((tool) => tool.needs)
    expect(needs.filter((need) => !need.endsWith(':read'))).toEqual([])
  })

  const tools = platformTools().map(({ definition: { name }, needs }) => [name, needs] as const)

  it.each(tools)('%s needs %j', async (name, needs) => {
    const { isRefused, used } = await call(name, needs)
    expect([isRefused, used.toSorted()]).toEqual([false, [...needs].toSorted()])
    for (const missing of needs) {
      const others = PERMISSIONS.filter((permission) => permission !== missing)
      expect([missing, (await call(name, others)).isRefused]).toEqual([missing, true])
    }
  })
})
