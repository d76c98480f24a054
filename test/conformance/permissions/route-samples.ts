import { newUuid } from '../../../src/base/ids.ts'
import { routeName } from '../../../src/http/api/access.ts'
import type { PlatformRoute } from '../../../src/http/platform/route.ts'
import { multipartBody } from '../../support/traces/wire-body.ts'
import {
  addDeployment,
  addFeedback,
  addFeedbackConfig,
  addMember,
  bodyOf,
  MULTIPART,
  putLimit,
  type Objects,
  ALERT,
  PRICE,
  RANGE,
  sendRun,
  type Tenant,
} from './tenant-world.ts'
import type { CheckedApi } from '../openapi/checked-api.ts'
import { PROJECT_SAMPLES } from './project-samples.ts'
import { DEPLOYMENT_SAMPLES } from './deployment-samples.ts'
import { THREAD_SAMPLES } from './thread-samples.ts'
import type { Caller, Sample, Target } from './sample.ts'

/** Calls with a token that was never issued; every caller gets the same answer. */
const UNKNOWN_TOKEN: Sample = { path: { token: newUuid(), id: newUuid() }, status: [404] }
const traceRun = () => ({ id: newUuid(), name: 'r', run_type: 'chain', start_time: Date.now(), inputs: {} })
const usage = (fields: Record<string, string> = {}): Sample => ({
  query: ({ workspace_id }) =>
    String(new URLSearchParams({ ...RANGE, workspace_ids: workspace_id, ...fields })),
})
const BY_PROJECT = usage({ group_by: 'project' })

/** True when the caller holds an admin's permissions. */
const mayManage = ({ role, member_role, read_only }: Caller): boolean =>
  role === 'admin' && (member_role ?? 'admin') === 'admin' && !read_only

const SERVICE = '/orgs/current/service-keys'
const PERSONAL = '/orgs/current/personal-access-tokens'
const MEMBERS = '/orgs/current/members'
const INVITES = '/orgs/current/invites'
const INGEST_OTLP = { 'content-type': 'application/json' }

/** Calls of SCIM with keys, which it does not accept. */
function scimSamples(): Record<string, Sample> {
  const refused: Sample = { path: { id: '1' }, status: [401] }
  const all: Record<string, Sample> = {}
  for (const path of ['/ServiceProviderConfig', '/ResourceTypes', '/Schemas'])
    all[`GET /scim/v2${path}`] = refused
  for (const path of ['/Users', '/Groups']) {
    all[`GET /scim/v2${path}`] = refused
    all[`POST /scim/v2${path}`] = { ...refused, body: {} }
    for (const method of ['GET', 'DELETE']) all[`${method} /scim/v2${path}/{id}`] = refused
    for (const method of ['PUT', 'PATCH']) all[`${method} /scim/v2${path}/{id}`] = { ...refused, body: {} }
  }
  return all
}

/** Calls of the routes of service keys and personal access tokens under these paths. */
function keySamples(service: string, personal: string): Record<string, Sample> {
  return {
    [`POST ${service}`]: {
      reach: 'grant',
      body: (o) => ({ description: 'k', workspaces: [o.workspace_id] }),
    },
    [`DELETE ${service}/{id}`]: { reach: 'caller', ids: ['service_key_id'] },
    [`GET ${personal}`]: {},
    [`POST ${personal}`]: {
      reach: 'grant',
      body: (o) => ({ description: 'k', workspaces: [o.workspace_id] }),
      // A service key has no user, so it cannot create a personal token.
      status: ({ user_id }) => [user_id === null ? 422 : 200],
    },
    [`DELETE ${personal}/{id}`]: {
      reach: 'caller',
      ids: ['token_id'],
      // Only an admin can revoke the tokens of other users.
      status: (caller) => [mayManage(caller) ? 204 : 404],
    },
  }
}

/** Samples of routes whose calls differ in more than the offset of a page. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  'POST /runs/multipart': { body: multipartBody([]), headers: MULTIPART },
  'POST /runs/batch': { body: () => ({ post: [traceRun()] }) },
  'POST /runs': { body: () => traceRun() },
  'PATCH /runs/{id}': { ids: ['updated_run_id'], body: { outputs: { stray: true } } },
  'POST /otel/v1/traces': { body: { resourceSpans: [] }, headers: INGEST_OTLP },
  'POST /v1/traces': { body: { resourceSpans: [] }, headers: INGEST_OTLP },
  'POST /public/otel/v1/traces': { body: { resourceSpans: [] }, headers: INGEST_OTLP },
  'POST /otel/v1/metrics': { body: { resourceMetrics: [] }, headers: INGEST_OTLP },
  'POST /v1/metrics': { body: { resourceMetrics: [] }, headers: INGEST_OTLP },
  'POST /otel/v1/logs': { body: { resourceLogs: [] }, headers: INGEST_OTLP },
  'POST /v1/logs': { body: { resourceLogs: [] }, headers: INGEST_OTLP },
  'POST /feedback': { body: (o) => ({ run_id: o.updated_run_id, key: 'stray' }) },
  'GET /runs/{id}': { reach: 'request', ids: ['run_id'] },
  'GET /runs/{id}/media': { reach: 'request', ids: ['run_id'], query: 'path=/inputs/file' },
  'POST /runs/query': { body: (o) => ({ session: [o.session_id], id: [o.run_id] }) },
  'POST /runs/stats': { body: (o) => ({ session: [o.session_id], group_by: { attribute: 'name' } }) },
  'POST /runs/facets': { body: (o) => ({ session: [o.session_id], field: 'name' }) },
  'POST /runs/differences': { body: (o) => ({ session: [o.session_id], selected: [o.run_id] }) },
  // The workspaces have no secret for a provider, so no provider is called.
  'POST /playground/runs': {
    body: {
      provider: 'openai',
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    },
    status: [409],
  },
  'POST /workspaces/current/secrets': { body: [{ key: 'STRAY', value: null }] },
  'PUT /workspaces/current/secrets/{key}': {
    path: { key: 'STRAY' },
    body: {
      value: 'v',
      hosts: ['127.0.0.1'],
    },
  },
  'DELETE /workspaces/current/secrets/{key}': { path: { key: 'UNKNOWN' }, status: [404] },
  // The topic is missing: an accepted stream would not end.
  'GET /live': { status: [422] },
  'POST /traces/{trace_id}/search': { ids: ['run_id'], body: { query: 'x' } },
  'GET /traces/{trace_id}': { reach: 'request', ids: ['run_id'] },
  'GET /runs/{id}/attachments/{name}': { reach: 'request', ids: ['run_id'], path: { name: 'note' } },
  'GET /runs/export': { query: (o) => `session=${o.session_id}` },
  'POST /runs/validate': { body: { post: [] } },
  'GET /feedback/{id}': { reach: 'request', ids: ['feedback_id'] },
  'PATCH /feedback/{id}': { reach: 'request', ids: ['feedback_id'], body: { score: 1 } },
  'DELETE /feedback/{id}': { reach: 'request', ids: ['feedback_id'] },
  'POST /feedback/tokens': { body: (o) => ({ run_id: o.updated_run_id, feedback_key: 'stray' }) },
  'GET /feedback/tokens': { query: (o) => `run_id=${o.run_id}` },
  'GET /feedback/tokens/{token}': { ...UNKNOWN_TOKEN, query: 'score=1' },
  'POST /feedback/tokens/{token}': { ...UNKNOWN_TOKEN, body: { score: 1 } },
  'GET /feedback-configs': {},
  'POST /feedback-configs': {
    body: () => ({ feedback_key: newUuid(), feedback_config: { type: 'freeform' } }),
  },
  'PATCH /feedback-configs': {
    reach: 'request',
    body: (o) => ({ feedback_key: o.feedback_key, is_lower_score_better: true }),
  },
  'DELETE /feedback-configs': { reach: 'request', query: (o) => `feedback_key=${o.feedback_key}` },
  'GET /feedback': { query: (o) => `run=${o.run_id}` },
  'POST /v2/runs/query': { reach: 'request', body: (o) => ({ project_ids: [o.session_id] }) },
  'GET /v2/runs/{id}': { reach: 'request', ids: ['run_id'], query: (o) => `project_id=${o.session_id}` },
  'GET /v2/runs/{id}/url': {
    reach: 'request',
    ids: ['run_id'],
    query: (o) => `project_id=${o.session_id}&trace_id=${o.run_id}`,
  },
  'POST /v2/traces/query': { reach: 'request', body: (o) => ({ project_id: o.session_id }) },
  'GET /v2/traces/{id}/runs': {
    reach: 'request',
    ids: ['run_id'],
    query: (o) => `project_id=${o.session_id}`,
  },
  'PUT /runs/{id}/share': { reach: 'request', ids: ['run_id'], body: {} },
  'GET /runs/{id}/share': { reach: 'request', ids: ['run_id'] },
  'DELETE /runs/{id}/share': { reach: 'request', ids: ['run_id'] },
  'POST /v2/runs/{id}/share': {
    reach: 'request',
    ids: ['run_id'],
    body: (o) => ({ session_id: o.session_id, trace_id: o.run_id }),
  },
  'DELETE /v2/runs/{id}/share': {
    reach: 'request',
    ids: ['run_id'],
    body: (o) => ({ session_id: o.session_id }),
  },
  'GET /public/{token}/run': UNKNOWN_TOKEN,
  'GET /public/{token}/run/{id}': UNKNOWN_TOKEN,
  'POST /public/{token}/runs/query': { ...UNKNOWN_TOKEN, body: {} },
  'POST /v2/public/{token}/runs/query': { ...UNKNOWN_TOKEN, body: {} },
  'GET /v2/public/{token}/run/{id}': UNKNOWN_TOKEN,
  'GET /public/attachments/{id}/{name}': {
    path: { id: newUuid(), name: 'note' },
    query: `workspace_id=${newUuid()}&expires=1&signature=0`,
    status: [404],
  },
  ...THREAD_SAMPLES,
  'DELETE /sessions/{id}': { reach: 'request', ids: ['session_id'] },
  'DELETE /traces/{trace_id}': { reach: 'request', ids: ['run_id'] },
  'DELETE /sessions': { reach: 'request', body: (o) => [o.session_id] },
  'POST /runs/delete/traces': { body: { trace_ids: [newUuid()] }, status: [404] },
  'POST /runs/delete': {
    reach: 'request',
    body: (o) => ({ session: o.session_id, filter: 'eq(name, "nothing")' }),
  },
  'GET /runs/delete/{job_id}': { reach: 'request', ids: ['deletion_id'] },
  'GET /sessions': { query: (o) => `id=${o.session_id}` },
  'POST /sessions': { body: () => ({ name: newUuid() }) },
  'GET /sessions/{id}': { reach: 'request', ids: ['session_id'] },
  'PATCH /sessions/{id}': { reach: 'request', ids: ['session_id'], body: { description: 'changed' } },
  ...PROJECT_SAMPLES,
  'GET /sessions/resolutions': { reach: 'request', query: (o) => `kind=EXPERIMENT&id=${o.experiment_id}` },
  'POST /sessions/{id}/dashboard': { reach: 'request', ids: ['session_id'], body: {}, status: [501] },
  'GET /v2/sessions': { query: (o) => `id=${o.session_id}` },
  'POST /v2/sessions': { body: () => ({ type: 'PROJECT', name: newUuid() }) },
  'GET /v2/sessions/{id}': { reach: 'request', ids: ['session_id'] },
  'PATCH /v2/sessions/{id}': { reach: 'request', ids: ['session_id'], body: { description: 'changed' } },
  'GET /model-price-map/lookup': { query: 'model=zebra' },
  'POST /model-price-map': { body: () => ({ ...PRICE, name: newUuid(), match_pattern: `^${newUuid()}$` }) },
  'POST /model-price-map/preview': { body: RANGE },
  'PUT /model-price-map/{id}': { reach: 'request', ids: ['price_id'], body: { ...PRICE, name: 'changed' } },
  'DELETE /model-price-map/{id}': { reach: 'request', ids: ['price_id'] },
  // Each call waits for the previous one.
  'POST /runs/reprice': { body: RANGE, status: [202, 409] },
  'GET /runs/reprice/{job_id}': { reach: 'request', ids: ['job_id'] },
  // The key in the body is missing, because every caller could send one.
  'POST /auth/session': { body: {}, status: [422] },
  'DELETE /auth/session': { status: [204] },
  'DELETE /auth/sessions/{id}': { path: { id: newUuid() }, status: [404] },
  // The invitation is unknown, because every caller could send one.
  // After ten refusals a minute from one address: 429.
  'POST /auth/invites': { body: { token: 'none' }, status: [401, 429] },
  'POST /auth/invites/accept': { body: { token: 'none' }, status: [401, 429] },
  // These servers have no provider.
  'GET /oauth/{id}/login': { path: { id: 'custom-oidc' }, status: [404] },
  'GET /oauth/{id}/callback': { path: { id: 'custom-oidc' }, query: 'state=s&code=c', status: [404] },
  // There is no sign-in provider.
  'POST /orgs/current/scim-tokens': { body: {}, status: [409] },
  'DELETE /orgs/current/scim-tokens/{id}': { path: { id: newUuid() }, status: [404] },
  ...scimSamples(),
  'POST /workspaces': { body: () => ({ display_name: newUuid() }), isFixed: true },
  'GET /workspaces/{id}': { reach: 'caller', ids: ['workspace_id'] },
  'PATCH /workspaces/{id}': {
    reach: 'caller',
    ids: ['workspace_id'],
    body: () => ({ display_name: newUuid() }),
  },
  'DELETE /workspaces/{id}': { reach: 'caller', ids: ['workspace_id'] },
  [`POST ${INVITES}`]: { reach: 'grant', body: (o) => ({ role: 'viewer', workspace_ids: [o.workspace_id] }) },
  [`POST ${INVITES}/{id}/renew`]: { reach: 'caller', ids: ['invite_id'] },
  [`DELETE ${INVITES}/{id}`]: { reach: 'caller', ids: ['invite_id'] },
  [`POST ${MEMBERS}`]: {
    reach: 'grant',
    body: (o) => ({ email: `${newUuid()}@example.com`, role: 'viewer', workspace_ids: [o.workspace_id] }),
  },
  [`PATCH ${MEMBERS}/{user_id}`]: { reach: 'caller', ids: ['member_id'], body: { full_name: 'changed' } },
  [`DELETE ${MEMBERS}/{user_id}`]: { reach: 'caller', ids: ['member_id'] },
  ...keySamples(SERVICE, PERSONAL),
  ...keySamples('/api-key', '/api-key/current'),
  'GET /orgs/current/audit-logs': {},
  'GET /orgs/current/audit-logs/export': {},
  'GET /audit-logs': { query: 'start_time=2026-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z' },
  'GET /orgs/current/billing/usage': {
    query: `starting_on=${RANGE.start_time}&ending_before=${RANGE.end_time}`,
  },
  'GET /orgs/current/billing/granular-usage': BY_PROJECT,
  'GET /orgs/current/billing/granular-usage/export': BY_PROJECT,
  'GET /orgs/current/billing/usage-traces': usage(),
  'GET /orgs/current/billing/usage-runs': usage(),
  'GET /orgs/current/billing/usage-details': BY_PROJECT,
  'GET /orgs/current/billing/usage-details/export': BY_PROJECT,
  'POST /setup': { body: { document: { version: 1 }, dry_run: true } },
  'GET /workspaces/{id}/limits': { reach: 'caller', ids: ['workspace_id'] },
  'PUT /workspaces/{id}/limits': {
    reach: 'caller',
    ids: ['workspace_id'],
    body: { ingest: { runs_per_minute: 1_000_000 } },
  },
  'PUT /usage-limits': {
    reach: 'caller',
    body: (o) => ({ api_key_id: o.service_key_id, limit_value: 1_000_000, mode: 'soft' }),
  },
  'DELETE /usage-limits/{id}': { reach: 'caller', ids: ['limit_id'] },
  ...DEPLOYMENT_SAMPLES,
  'GET /ok': {},
  'GET /ready': {},
  'GET /docs/{file}': { path: { file: 'page.js' } },
  'POST /mcp': { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
  'GET /.well-known/oauth-protected-resource/deployments/{name}/mcp': {
    path: { name: 'none' },
    status: [404],
  },
  // Registrations are limited per address, so the matrix makes none.
  'POST /oauth/register': { body: {}, status: [400] },
  // No caller names a client that exists.
  'GET /oauth/authorize': { status: [400] },
  // A consent needs a session of a browser, which no caller has.
  'POST /oauth/authorize': { body: {}, status: [403] },
  'POST /oauth/token': { body: {}, status: [400] },
  'POST /oauth/revoke': { body: {}, status: [400] },
}

/** The sample of a route; undefined if it needs one of `SAMPLES` and has none. */
export function sampleOf(route: PlatformRoute): Sample | undefined {
  const { params, query, body } = route
  const isPlain =
    body === undefined && Object.keys({ ...params, ...query }).every((name) => name === 'offset')
  return SAMPLES[routeName(route)] ?? (isPlain ? {} : undefined)
}

/** A target that may be destroyed: the tenant's records, with new ones where the route deletes one. */
export async function disposable(api: CheckedApi, name: string, tenant: Tenant): Promise<Target> {
  if (!name.startsWith('DELETE ') || name.startsWith('DELETE /auth/session'))
    return { ...tenant, objects: tenant.own }
  const { admin: key, workspace_id, own: objects } = tenant
  const having = (changed: Partial<Objects>) => ({ ...tenant, objects: { ...objects, ...changed } })
  const headers = { 'x-tenant-id': workspace_id }
  const post = async (path: string, body: object): Promise<string> =>
    (bodyOf(await api({ key, headers, method: 'POST', path, body })) as { id: string }).id
  const marked = { description: 'disposable', workspaces: [workspace_id] }
  if (name === 'DELETE /sessions/{id}' || name === 'DELETE /sessions')
    return having({ session_id: await post('/sessions', { name: newUuid() }) })
  if (name === 'DELETE /sessions/{id}/views/{view_id}')
    return having({
      view_id: await post(`/sessions/${objects.session_id}/views`, { display_name: newUuid() }),
    })
  if (name === 'DELETE /alerts/{id}')
    return having({
      alert_id: await post('/alerts', { ...ALERT, session_id: objects.session_id, name: newUuid() }),
    })
  if (name === 'DELETE /comments/{id}')
    return having({ comment_id: await post(`/runs/${objects.run_id}/comments`, { text: 'disposable' }) })
  if (name === 'DELETE /traces/{trace_id}')
    return having({ run_id: await sendRun(api, tenant, objects.session_id) })
  // Without a sign-in provider there are no tokens of SCIM.
  if (name.includes('scim')) return { ...tenant, objects }
  // These routes succeed even if the share or the secret does not exist, so no record is created.
  if (name.endsWith('/share') || name.includes('/secrets/')) return { ...tenant, objects }
  if (name === 'DELETE /feedback/{id}')
    return having({ feedback_id: await addFeedback(api, tenant, objects.run_id) })
  if (name === 'DELETE /feedback-configs')
    return having({ feedback_key: await addFeedbackConfig(api, tenant) })
  if (name.includes('price-map')) {
    const price_id = await post('/model-price-map', { ...PRICE, name: newUuid() })
    return having({ price_id })
  }
  if (name.includes(SERVICE) || name === 'DELETE /api-key/{id}')
    return having({ service_key_id: await post(SERVICE, marked) })
  if (name.includes(PERSONAL) || name === 'DELETE /api-key/current/{id}') {
    const token_id = await post(PERSONAL, { ...marked, user_id: objects.member_id })
    return having({ token_id })
  }
  if (name.includes(MEMBERS)) return having({ member_id: await addMember(api, tenant, 'user') })
  if (name.includes(INVITES))
    return having({ invite_id: await post(INVITES, { role: 'user', workspace_ids: [workspace_id] }) })
  if (name.includes('usage-limits'))
    return having({ limit_id: await putLimit(api, tenant, objects.service_key_id) })
  if (name === 'DELETE /v2/deployments/{id}')
    return having({ deployment_id: await addDeployment(api, tenant) })
  if (name === 'DELETE /workspaces/{id}')
    return { ...tenant, objects, workspace_id: await post('/workspaces', { display_name: newUuid() }) }
  throw new Error(`no disposable target for ${name}`)
}
