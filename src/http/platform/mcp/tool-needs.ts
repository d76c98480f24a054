import type { Permission } from '../../../identity/permissions.ts'

/**
 * The permissions of the routes that each tool asks. Only for the page of permissions and its test: a tool is refused by
 * the routes themselves.
 */
export const TOOL_NEEDS: Readonly<Record<string, readonly Permission[]>> = {
  list_projects: ['projects:read'],
  fetch_runs: ['projects:read', 'runs:read'],
  read_trace: ['runs:read'],
  read_run: ['runs:read'],
  search_trace: ['runs:read'],
  explain_cost: ['runs:read', 'workspaces:read'],
  compare: ['runs:read'],
  run_stats: ['projects:read', 'runs:read'],
  get_thread_history: ['projects:read', 'runs:read'],
  get_billing_usage: ['workspaces:read', 'organization:read'],
  validate_runs: ['runs:read'],
  search_docs: [],
  read_doc: [],
}
