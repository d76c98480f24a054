import { newUuid } from '../../src/base/ids.ts'
import { multipartBody } from '../support/wire-body.ts'
import {
  addMember,
  bodyOf,
  MULTIPART,
  putLimit,
  type Objects,
  PRICE,
  RANGE,
  type Tenant,
} from './tenant-world.ts'
import type { ApiCall, CheckedApi } from './checked-api.ts'

/** Who calls. */
export interface Caller {
  name: string
  organization: string
  key: string | undefined
  /** False: unknown, expired, deleted. */
  isKey: boolean
  role: 'admin' | 'operator' | 'user' | 'viewer'
  /** Of the owner of a personal token; null for a service key. */
  member_role: 'admin' | 'operator' | 'user' | 'viewer' | null
  read_only: boolean
  /** Those that it may use. */
  workspace_ids: readonly string[]
  all_workspaces: boolean
  /** Where its requests go without X-Tenant-Id. */
  default_workspace_id: string | null
  user_id: string | null
}

/** What of a tenant a request names. */
export type Target = Pick<Tenant, 'organization' | 'workspace_id'> & { objects: Objects }

/** How to call a route so that it succeeds, if the caller may. */
export interface Sample {
  /**
   * What decides whether the target is there for the caller: the workspace of the request (404), those of the caller
   * (404, or 403 where the target is granted). Absent: the route names nothing that could be foreign, or answers as if
   * there were nothing.
   */
  reach?: 'request' | 'caller' | 'grant'
  /** The call is the same whatever the target. */
  isFixed?: boolean
  /** The call, without key and workspace. */
  call(target: Target, caller: Caller): Omit<ApiCall, 'key' | 'method'>
  /** Statuses of success; that of the route if absent. */
  status?(caller: Caller): number[]
}

const at = (path: string, body?: unknown, headers?: Record<string, string>) => ({
  path,
  ...(body !== undefined && { body }),
  ...(headers !== undefined && { headers }),
})
const fixed = (path: string, body?: unknown, headers?: Record<string, string>): Sample => ({
  isFixed: true,
  call: () => at(path, body, headers),
})
const traceRun = () => ({ id: newUuid(), name: 'r', run_type: 'chain', start_time: Date.now(), inputs: {} })
const usage = (name: string): Sample => ({
  call: ({ workspace_id }) => {
    const query = new URLSearchParams({ ...RANGE, workspace_ids: workspace_id, group_by: 'project' })
    return at(`/orgs/current/billing/${name}?${String(query)}`)
  },
})
/** True when the caller holds an admin's permissions. */
export const mayManage = ({ role, member_role, read_only }: Caller): boolean =>
  role === 'admin' && (member_role ?? 'admin') === 'admin' && !read_only

const SERVICE = '/orgs/current/service-keys'
const PERSONAL = '/orgs/current/personal-access-tokens'
const MEMBERS = '/orgs/current/members'
const INGEST_OTLP = { 'content-type': 'application/json' }

/** A sample for every route of the platform API: a new route needs one, and the test says so. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  'POST /runs/multipart': fixed('/runs/multipart', multipartBody([]), MULTIPART),
  'POST /runs/batch': { call: () => at('/runs/batch', { post: [traceRun()] }) },
  'POST /runs': { call: () => at('/runs', traceRun()) },
  'PATCH /runs/{id}': {
    call: ({ objects }) => at(`/runs/${objects.updated_run_id}`, { outputs: { stray: true } }),
  },
  'POST /otel/v1/traces': fixed('/otel/v1/traces', { resourceSpans: [] }, INGEST_OTLP),
  'POST /v1/traces': fixed('/v1/traces', { resourceSpans: [] }, INGEST_OTLP),
  'POST /otel/v1/logs': fixed('/otel/v1/logs', { resourceLogs: [] }, INGEST_OTLP),
  'POST /v1/logs': fixed('/v1/logs', { resourceLogs: [] }, INGEST_OTLP),
  'POST /feedback': {
    call: ({ objects }) => at('/feedback', { run_id: objects.updated_run_id, key: 'stray' }),
  },
  'GET /runs/{id}': { reach: 'request', call: ({ objects }) => at(`/runs/${objects.run_id}`) },
  'POST /runs/query': {
    call: ({ objects }) => at('/runs/query', { session: [objects.session_id], id: [objects.run_id] }),
  },
  'GET /traces/{trace_id}': { reach: 'request', call: ({ objects }) => at(`/traces/${objects.run_id}`) },
  'GET /runs/{id}/attachments/{name}': {
    reach: 'request',
    call: ({ objects }) => at(`/runs/${objects.run_id}/attachments/note`),
  },
  'POST /runs/validate': fixed('/runs/validate', { post: [] }),
  'GET /feedback': { call: ({ objects }) => at(`/feedback?run=${objects.run_id}`) },
  'GET /sessions': { call: ({ objects }) => at(`/sessions?id=${objects.session_id}`) },
  'POST /sessions': { call: () => at('/sessions', { name: newUuid() }) },
  'GET /sessions/{id}': { reach: 'request', call: ({ objects }) => at(`/sessions/${objects.session_id}`) },
  'PATCH /sessions/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/${objects.session_id}`, { description: 'changed' }),
  },
  'GET /model-price-map': fixed('/model-price-map'),
  'GET /model-price-map/lookup': fixed('/model-price-map/lookup?model=zebra'),
  'POST /model-price-map': {
    call: () => at('/model-price-map', { ...PRICE, name: newUuid(), match_pattern: `^${newUuid()}$` }),
  },
  'PUT /model-price-map/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/model-price-map/${objects.price_id}`, { ...PRICE, name: 'changed' }),
  },
  'DELETE /model-price-map/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/model-price-map/${objects.price_id}`),
  },
  // The next one waits for the one before.
  'POST /runs/reprice': { ...fixed('/runs/reprice', RANGE), status: () => [202, 409] },
  'GET /runs/reprice/{job_id}': {
    reach: 'request',
    call: ({ objects }) => at(`/runs/reprice/${objects.job_id}`),
  },
  'GET /workspaces': fixed('/workspaces'),
  'POST /workspaces': fixed('/workspaces', { display_name: 'made' }),
  'PATCH /workspaces/{id}': {
    reach: 'caller',
    call: ({ workspace_id }) => at(`/workspaces/${workspace_id}`, { display_name: 'renamed' }),
  },
  'DELETE /workspaces/{id}': {
    reach: 'caller',
    call: ({ workspace_id }) => at(`/workspaces/${workspace_id}`),
  },
  'GET /settings': fixed('/settings'),
  'GET /orgs/current': fixed('/orgs/current'),
  'GET /orgs/current/roles': fixed('/orgs/current/roles'),
  [`GET ${MEMBERS}`]: fixed(MEMBERS),
  [`POST ${MEMBERS}`]: {
    reach: 'grant',
    call: ({ workspace_id }) => {
      const email = `${newUuid()}@example.com`
      return at(MEMBERS, { email, role: 'viewer', workspace_ids: [workspace_id] })
    },
  },
  [`PATCH ${MEMBERS}/{user_id}`]: {
    reach: 'caller',
    call: ({ objects }) => at(`${MEMBERS}/${objects.member_id}`, { full_name: 'changed' }),
  },
  [`DELETE ${MEMBERS}/{user_id}`]: {
    reach: 'caller',
    call: ({ objects }) => at(`${MEMBERS}/${objects.member_id}`),
  },
  [`GET ${SERVICE}`]: fixed(SERVICE),
  [`POST ${SERVICE}`]: {
    reach: 'grant',
    call: ({ workspace_id }) => at(SERVICE, { description: 'k', workspaces: [workspace_id] }),
  },
  [`DELETE ${SERVICE}/{id}`]: {
    reach: 'caller',
    call: ({ objects }) => at(`${SERVICE}/${objects.service_key_id}`),
  },
  [`GET ${PERSONAL}`]: fixed(PERSONAL),
  [`POST ${PERSONAL}`]: {
    reach: 'grant',
    call: ({ workspace_id }) => at(PERSONAL, { description: 'k', workspaces: [workspace_id] }),
    // A service key has no user to make one for.
    status: ({ user_id }) => [user_id === null ? 422 : 200],
  },
  [`DELETE ${PERSONAL}/{id}`]: {
    reach: 'caller',
    call: ({ objects }) => at(`${PERSONAL}/${objects.token_id}`),
    // Those of others are an admin's to revoke.
    status: (caller) => [mayManage(caller) ? 204 : 404],
  },
  'GET /orgs/current/audit-logs': fixed('/orgs/current/audit-logs'),
  'GET /orgs/current/billing/granular-usage': usage('granular-usage'),
  'GET /orgs/current/billing/granular-usage/export': usage('granular-usage/export'),
  'GET /orgs/current/billing/usage-details': usage('usage-details'),
  'GET /orgs/current/billing/usage-details/export': usage('usage-details/export'),
  'POST /orgs/current/billing/usage-rebuild': fixed('/orgs/current/billing/usage-rebuild'),
  'GET /orgs/current/billing/usage-rebuild': fixed('/orgs/current/billing/usage-rebuild'),
  'GET /usage-limits': fixed('/usage-limits'),
  'PUT /usage-limits': {
    reach: 'caller',
    call: ({ objects }) =>
      at('/usage-limits', { api_key_id: objects.service_key_id, limit_value: 1_000_000, mode: 'soft' }),
  },
  'DELETE /usage-limits/{id}': {
    reach: 'caller',
    call: ({ objects }) => at(`/usage-limits/${objects.limit_id}`),
  },
  'GET /ingest/health': fixed('/ingest/health'),
  'GET /metrics': fixed('/metrics'),
  'GET /ok': fixed('/ok'),
  'GET /info': fixed('/info'),
  'GET /docs': fixed('/docs'),
  'GET /openapi.json': fixed('/openapi.json'),
  'GET /': fixed('/'),
}

/** A target to be destroyed: the tenant's, with new things where the route deletes one. */
export async function disposable(api: CheckedApi, name: string, tenant: Tenant): Promise<Target> {
  if (!name.startsWith('DELETE ')) return { ...tenant, objects: tenant.own }
  const { admin: key, workspace_id, own: objects } = tenant
  const headers = { 'x-tenant-id': workspace_id }
  const post = async (path: string, body: object): Promise<string> =>
    (bodyOf(await api({ key, headers, method: 'POST', path, body })) as { id: string }).id
  const marked = { description: 'disposable', workspaces: [workspace_id] }
  if (name.includes('price-map'))
    return {
      ...tenant,
      objects: { ...objects, price_id: await post('/model-price-map', { ...PRICE, name: newUuid() }) },
    }
  if (name.includes(SERVICE))
    return { ...tenant, objects: { ...objects, service_key_id: await post(SERVICE, marked) } }
  if (name.includes(PERSONAL)) {
    const token_id = await post(PERSONAL, { ...marked, user_id: objects.member_id })
    return { ...tenant, objects: { ...objects, token_id } }
  }
  if (name.includes(MEMBERS))
    return { ...tenant, objects: { ...objects, member_id: await addMember(api, tenant, 'user') } }
  if (name.includes('usage-limits'))
    return {
      ...tenant,
      objects: { ...objects, limit_id: await putLimit(api, tenant, objects.service_key_id) },
    }
  if (name === 'DELETE /workspaces/{id}')
    return { ...tenant, objects, workspace_id: await post('/workspaces', { display_name: 'disposable' }) }
  throw new Error(`no disposable target for ${name}`)
}
