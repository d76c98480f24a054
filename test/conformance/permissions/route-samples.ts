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
import { PLAYGROUND_SAMPLES } from './playground-samples.ts'
import { DEPLOYMENT_SAMPLES } from './deployment-samples.ts'
import { THREAD_SAMPLES } from './thread-samples.ts'
import { at, type Caller, fixed, type Sample, type Target } from './sample.ts'

/** A call with a token that was never issued; every caller gets the same answer. */
const unknown = (path: string, body?: unknown): Sample => ({ ...fixed(path, body), status: () => [404] })
const unknownToken = (path: string, body?: unknown, prefix = ''): Sample =>
  unknown(`${prefix}/public/${newUuid()}${path}`, body)
const traceRun = () => ({ id: newUuid(), name: 'r', run_type: 'chain', start_time: Date.now(), inputs: {} })
const usage = (name: string): Sample => ({
  call: ({ workspace_id }) => {
    const query = new URLSearchParams({ ...RANGE, workspace_ids: workspace_id, group_by: 'project' })
    return at(`/orgs/current/billing/${name}?${String(query)}`)
  },
})
const usageList = (name: string): Sample => ({
  call: ({ workspace_id }) => {
    const query = new URLSearchParams({ ...RANGE, workspace_ids: workspace_id })
    return at(`/orgs/current/billing/${name}?${String(query)}`)
  },
})
/** True when the caller holds an admin's permissions. */
export const mayManage = ({ role, member_role, read_only }: Caller): boolean =>
  role === 'admin' && (member_role ?? 'admin') === 'admin' && !read_only

const SERVICE = '/orgs/current/service-keys'
const PERSONAL = '/orgs/current/personal-access-tokens'
const MEMBERS = '/orgs/current/members'
const INVITES = '/orgs/current/invites'
const INGEST_OTLP = { 'content-type': 'application/json' }

/** Calls of SCIM with keys, which it does not accept. */
function scimSamples(): Record<string, Sample> {
  const refused = (path: string, body?: unknown): Sample => ({
    ...fixed(`/scim/v2${path}`, body),
    status: () => [401],
  })
  const all: Record<string, Sample> = {}
  for (const path of ['/ServiceProviderConfig', '/ResourceTypes', '/Schemas'])
    all[`GET /scim/v2${path}`] = refused(path)
  for (const path of ['/Users', '/Groups']) {
    all[`GET /scim/v2${path}`] = refused(path)
    all[`POST /scim/v2${path}`] = refused(path, {})
    for (const method of ['GET', 'DELETE']) all[`${method} /scim/v2${path}/{id}`] = refused(`${path}/1`)
    for (const method of ['PUT', 'PATCH']) all[`${method} /scim/v2${path}/{id}`] = refused(`${path}/1`, {})
  }
  return all
}

/** Calls of the routes of service keys and personal access tokens under these paths. */
function keySamples(service: string, personal: string): Record<string, Sample> {
  return {
    [`POST ${service}`]: {
      reach: 'grant',
      call: ({ workspace_id }) => at(service, { description: 'k', workspaces: [workspace_id] }),
    },
    [`DELETE ${service}/{id}`]: {
      reach: 'caller',
      call: ({ objects }) => at(`${service}/${objects.service_key_id}`),
    },
    [`GET ${personal}`]: fixed(personal),
    [`POST ${personal}`]: {
      reach: 'grant',
      call: ({ workspace_id }) => at(personal, { description: 'k', workspaces: [workspace_id] }),
      // A service key has no user, so it cannot create a personal token.
      status: ({ user_id }) => [user_id === null ? 422 : 200],
    },
    [`DELETE ${personal}/{id}`]: {
      reach: 'caller',
      call: ({ objects }) => at(`${personal}/${objects.token_id}`),
      // Only an admin can revoke the tokens of other users.
      status: (caller) => [mayManage(caller) ? 204 : 404],
    },
  }
}

/** Samples of routes whose calls differ in more than the offset of a page. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  'POST /runs/multipart': fixed('/runs/multipart', multipartBody([]), MULTIPART),
  'POST /runs/batch': { call: () => at('/runs/batch', { post: [traceRun()] }) },
  'POST /runs': { call: () => at('/runs', traceRun()) },
  'PATCH /runs/{id}': {
    call: ({ objects }) => at(`/runs/${objects.updated_run_id}`, { outputs: { stray: true } }),
  },
  'POST /otel/v1/traces': fixed('/otel/v1/traces', { resourceSpans: [] }, INGEST_OTLP),
  'POST /v1/traces': fixed('/v1/traces', { resourceSpans: [] }, INGEST_OTLP),
  'POST /public/otel/v1/traces': fixed('/public/otel/v1/traces', { resourceSpans: [] }, INGEST_OTLP),
  'POST /otel/v1/metrics': fixed('/otel/v1/metrics', { resourceMetrics: [] }, INGEST_OTLP),
  'POST /v1/metrics': fixed('/v1/metrics', { resourceMetrics: [] }, INGEST_OTLP),
  'POST /otel/v1/logs': fixed('/otel/v1/logs', { resourceLogs: [] }, INGEST_OTLP),
  'POST /v1/logs': fixed('/v1/logs', { resourceLogs: [] }, INGEST_OTLP),
  'POST /feedback': {
    call: ({ objects }) => at('/feedback', { run_id: objects.updated_run_id, key: 'stray' }),
  },
  'GET /runs/{id}': { reach: 'request', call: ({ objects }) => at(`/runs/${objects.run_id}`) },
  'GET /runs/{id}/media': {
    reach: 'request',
    call: ({ objects }) => at(`/runs/${objects.run_id}/media?path=/inputs/file`),
  },
  'POST /runs/query': {
    call: ({ objects }) => at('/runs/query', { session: [objects.session_id], id: [objects.run_id] }),
  },
  'POST /runs/stats': {
    call: ({ objects }) =>
      at('/runs/stats', { session: [objects.session_id], group_by: { attribute: 'name' } }),
  },
  'POST /runs/facets': {
    call: ({ objects }) => at('/runs/facets', { session: [objects.session_id], field: 'name' }),
  },
  'POST /runs/differences': {
    call: ({ objects }) =>
      at('/runs/differences', { session: [objects.session_id], selected: [objects.run_id] }),
  },
  ...PLAYGROUND_SAMPLES,
  // The topic is missing: an accepted stream would not end.
  'GET /live': { ...fixed('/live'), status: () => [422] },
  'POST /traces/{trace_id}/search': {
    call: ({ objects }) => at(`/traces/${objects.run_id}/search`, { query: 'x' }),
  },
  'GET /traces/{trace_id}': { reach: 'request', call: ({ objects }) => at(`/traces/${objects.run_id}`) },
  'GET /runs/{id}/attachments/{name}': {
    reach: 'request',
    call: ({ objects }) => at(`/runs/${objects.run_id}/attachments/note`),
  },
  'GET /runs/export': { call: ({ objects }) => at(`/runs/export?session=${objects.session_id}`) },
  'POST /runs/validate': fixed('/runs/validate', { post: [] }),
  'GET /feedback/{id}': { reach: 'request', call: ({ objects }) => at(`/feedback/${objects.feedback_id}`) },
  'PATCH /feedback/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/feedback/${objects.feedback_id}`, { score: 1 }),
  },
  'DELETE /feedback/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/feedback/${objects.feedback_id}`),
  },
  'POST /feedback/tokens': {
    call: ({ objects }) => at('/feedback/tokens', { run_id: objects.updated_run_id, feedback_key: 'stray' }),
  },
  'GET /feedback/tokens': { call: ({ objects }) => at(`/feedback/tokens?run_id=${objects.run_id}`) },
  'GET /feedback/tokens/{token}': unknown(`/feedback/tokens/${newUuid()}?score=1`),
  'POST /feedback/tokens/{token}': unknown(`/feedback/tokens/${newUuid()}`, { score: 1 }),
  'GET /feedback-configs': fixed('/feedback-configs'),
  'POST /feedback-configs': {
    call: () => at('/feedback-configs', { feedback_key: newUuid(), feedback_config: { type: 'freeform' } }),
  },
  'PATCH /feedback-configs': {
    reach: 'request',
    call: ({ objects }) =>
      at('/feedback-configs', { feedback_key: objects.feedback_key, is_lower_score_better: true }),
  },
  'DELETE /feedback-configs': {
    reach: 'request',
    call: ({ objects }) => at(`/feedback-configs?feedback_key=${objects.feedback_key}`),
  },
  'GET /feedback': { call: ({ objects }) => at(`/feedback?run=${objects.run_id}`) },
  'POST /v2/runs/query': {
    reach: 'request',
    call: ({ objects }) => at('/v2/runs/query', { project_ids: [objects.session_id] }),
  },
  'GET /v2/runs/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/runs/${objects.run_id}?project_id=${objects.session_id}`),
  },
  'GET /v2/runs/{id}/url': {
    reach: 'request',
    call: ({ objects: { run_id, session_id } }) =>
      at(`/v2/runs/${run_id}/url?project_id=${session_id}&trace_id=${run_id}`),
  },
  'POST /v2/traces/query': {
    reach: 'request',
    call: ({ objects }) => at('/v2/traces/query', { project_id: objects.session_id }),
  },
  'GET /v2/traces/{id}/runs': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/traces/${objects.run_id}/runs?project_id=${objects.session_id}`),
  },
  'PUT /runs/{id}/share': {
    reach: 'request',
    call: ({ objects }) => at(`/runs/${objects.run_id}/share`, {}),
  },
  'GET /runs/{id}/share': { reach: 'request', call: ({ objects }) => at(`/runs/${objects.run_id}/share`) },
  'DELETE /runs/{id}/share': { reach: 'request', call: ({ objects }) => at(`/runs/${objects.run_id}/share`) },
  'POST /v2/runs/{id}/share': {
    reach: 'request',
    call: ({ objects: { run_id, session_id } }) =>
      at(`/v2/runs/${run_id}/share`, { session_id, trace_id: run_id }),
  },
  'DELETE /v2/runs/{id}/share': {
    reach: 'request',
    call: ({ objects: { run_id, session_id } }) => at(`/v2/runs/${run_id}/share`, { session_id }),
  },
  'GET /public/{token}/run': unknownToken('/run'),
  'GET /public/{token}/run/{id}': unknownToken(`/run/${newUuid()}`),
  'POST /public/{token}/runs/query': unknownToken('/runs/query', {}),
  'POST /v2/public/{token}/runs/query': unknownToken('/runs/query', {}, '/v2'),
  'GET /v2/public/{token}/run/{id}': unknownToken(`/run/${newUuid()}`, undefined, '/v2'),
  'GET /public/attachments/{id}/{name}': {
    ...fixed(`/public/attachments/${newUuid()}/note?workspace_id=${newUuid()}&expires=1&signature=0`),
    status: () => [404],
  },
  ...THREAD_SAMPLES,
  'DELETE /sessions/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/${objects.session_id}`),
  },
  'DELETE /traces/{trace_id}': {
    reach: 'request',
    call: ({ objects }) => at(`/traces/${objects.run_id}`),
  },
  'DELETE /sessions': {
    reach: 'request',
    call: ({ objects }) => at('/sessions', [objects.session_id]),
  },
  'POST /runs/delete/traces': unknown('/runs/delete/traces', { trace_ids: [newUuid()] }),
  'POST /runs/delete': {
    reach: 'request',
    call: ({ objects }) => at('/runs/delete', { session: objects.session_id, filter: 'eq(name, "nothing")' }),
  },
  'GET /runs/delete/{job_id}': {
    reach: 'request',
    call: ({ objects }) => at(`/runs/delete/${objects.deletion_id}`),
  },
  'GET /sessions': { call: ({ objects }) => at(`/sessions?id=${objects.session_id}`) },
  'POST /sessions': { call: () => at('/sessions', { name: newUuid() }) },
  'GET /sessions/{id}': { reach: 'request', call: ({ objects }) => at(`/sessions/${objects.session_id}`) },
  'PATCH /sessions/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/${objects.session_id}`, { description: 'changed' }),
  },
  ...PROJECT_SAMPLES,
  'GET /sessions/resolutions': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/resolutions?kind=EXPERIMENT&id=${objects.experiment_id}`),
  },
  'POST /sessions/{id}/dashboard': {
    reach: 'request',
    call: ({ objects }) => at(`/sessions/${objects.session_id}/dashboard`, {}),
    status: () => [501],
  },
  'GET /v2/sessions': { call: ({ objects }) => at(`/v2/sessions?id=${objects.session_id}`) },
  'POST /v2/sessions': { call: () => at('/v2/sessions', { type: 'PROJECT', name: newUuid() }) },
  'GET /v2/sessions/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/sessions/${objects.session_id}`),
  },
  'PATCH /v2/sessions/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/v2/sessions/${objects.session_id}`, { description: 'changed' }),
  },
  'GET /model-price-map/lookup': fixed('/model-price-map/lookup?model=zebra'),
  'POST /model-price-map': {
    call: () => at('/model-price-map', { ...PRICE, name: newUuid(), match_pattern: `^${newUuid()}$` }),
  },
  'POST /model-price-map/preview': fixed('/model-price-map/preview', RANGE),
  'PUT /model-price-map/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/model-price-map/${objects.price_id}`, { ...PRICE, name: 'changed' }),
  },
  'DELETE /model-price-map/{id}': {
    reach: 'request',
    call: ({ objects }) => at(`/model-price-map/${objects.price_id}`),
  },
  // Each call waits for the previous one.
  'POST /runs/reprice': { ...fixed('/runs/reprice', RANGE), status: () => [202, 409] },
  'GET /runs/reprice/{job_id}': {
    reach: 'request',
    call: ({ objects }) => at(`/runs/reprice/${objects.job_id}`),
  },
  // The key in the body is missing, because every caller could send one.
  'POST /auth/session': { ...fixed('/auth/session', {}), status: () => [422] },
  'DELETE /auth/session': { ...fixed('/auth/session'), status: () => [204] },
  'DELETE /auth/sessions/{id}': unknown(`/auth/sessions/${newUuid()}`),
  // The invitation is unknown, because every caller could send one.
  // After ten refusals a minute from one address: 429.
  'POST /auth/invites': { ...fixed('/auth/invites', { token: 'none' }), status: () => [401, 429] },
  'POST /auth/invites/accept': {
    ...fixed('/auth/invites/accept', { token: 'none' }),
    status: () => [401, 429],
  },
  // These servers have no provider.
  'GET /oauth/{id}/login': unknown('/oauth/custom-oidc/login'),
  'GET /oauth/{id}/callback': unknown('/oauth/custom-oidc/callback?state=s&code=c'),
  // There is no sign-in provider.
  'POST /orgs/current/scim-tokens': { ...fixed('/orgs/current/scim-tokens', {}), status: () => [409] },
  'DELETE /orgs/current/scim-tokens/{id}': unknown(`/orgs/current/scim-tokens/${newUuid()}`),
  ...scimSamples(),
  'POST /workspaces': { isFixed: true, call: () => at('/workspaces', { display_name: newUuid() }) },
  'GET /workspaces/{id}': {
    reach: 'caller',
    call: ({ workspace_id }) => at(`/workspaces/${workspace_id}`),
  },
  'PATCH /workspaces/{id}': {
    reach: 'caller',
    call: ({ workspace_id }) => at(`/workspaces/${workspace_id}`, { display_name: newUuid() }),
  },
  'DELETE /workspaces/{id}': {
    reach: 'caller',
    call: ({ workspace_id }) => at(`/workspaces/${workspace_id}`),
  },
  [`POST ${INVITES}`]: {
    reach: 'grant',
    call: ({ workspace_id }) => at(INVITES, { role: 'viewer', workspace_ids: [workspace_id] }),
  },
  [`POST ${INVITES}/{id}/renew`]: {
    reach: 'caller',
    call: ({ objects }) => at(`${INVITES}/${objects.invite_id}/renew`),
  },
  [`DELETE ${INVITES}/{id}`]: {
    reach: 'caller',
    call: ({ objects }) => at(`${INVITES}/${objects.invite_id}`),
  },
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
  ...keySamples(SERVICE, PERSONAL),
  ...keySamples('/api-key', '/api-key/current'),
  'GET /orgs/current/audit-logs': fixed('/orgs/current/audit-logs'),
  'GET /orgs/current/audit-logs/export': fixed('/orgs/current/audit-logs/export'),
  'GET /audit-logs': fixed('/audit-logs?start_time=2026-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z'),
  'GET /orgs/current/billing/usage': fixed(
    `/orgs/current/billing/usage?starting_on=${RANGE.start_time}&ending_before=${RANGE.end_time}`,
  ),
  'GET /orgs/current/billing/granular-usage': usage('granular-usage'),
  'GET /orgs/current/billing/granular-usage/export': usage('granular-usage/export'),
  'GET /orgs/current/billing/usage-traces': usageList('usage-traces'),
  'GET /orgs/current/billing/usage-runs': usageList('usage-runs'),
  'GET /orgs/current/billing/usage-details': usage('usage-details'),
  'GET /orgs/current/billing/usage-details/export': usage('usage-details/export'),
  'POST /setup': fixed('/setup', { document: { version: 1 }, dry_run: true }),
  'GET /workspaces/{id}/limits': {
    reach: 'caller',
    call: ({ workspace_id }) => at(`/workspaces/${workspace_id}/limits`),
  },
  'PUT /workspaces/{id}/limits': {
    reach: 'caller',
    call: ({ workspace_id }) =>
      at(`/workspaces/${workspace_id}/limits`, { ingest: { runs_per_minute: 1_000_000 } }),
  },
  'PUT /usage-limits': {
    reach: 'caller',
    call: ({ objects }) =>
      at('/usage-limits', { api_key_id: objects.service_key_id, limit_value: 1_000_000, mode: 'soft' }),
  },
  'DELETE /usage-limits/{id}': {
    reach: 'caller',
    call: ({ objects }) => at(`/usage-limits/${objects.limit_id}`),
  },
  ...DEPLOYMENT_SAMPLES,
  'GET /ok': fixed('/ok'),
  'GET /ready': fixed('/ready'),
  'GET /docs/{file}': fixed('/docs/page.js'),
  'POST /mcp': fixed('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  'GET /.well-known/oauth-protected-resource/deployments/{name}/mcp': {
    ...fixed('/.well-known/oauth-protected-resource/deployments/none/mcp'),
    status: () => [404],
  },
  // Registrations are limited per address, so the matrix makes none.
  'POST /oauth/register': { ...fixed('/oauth/register', {}), status: () => [400] },
  // No caller names a client that exists.
  'GET /oauth/authorize': { ...fixed('/oauth/authorize'), status: () => [400] },
  // A consent needs a session of a browser, which no caller has.
  'POST /oauth/authorize': { ...fixed('/oauth/authorize', {}), status: () => [403] },
  'POST /oauth/token': { ...fixed('/oauth/token', {}), status: () => [400] },
  'POST /oauth/revoke': { ...fixed('/oauth/revoke', {}), status: () => [400] },
}

/** The sample of a route; undefined if it needs one of `SAMPLES` and has none. */
export function sampleOf(route: PlatformRoute): Sample | undefined {
  const { path, params, query, body } = route
  const isPlain =
    body === undefined && Object.keys({ ...params, ...query }).every((name) => name === 'offset')
  return SAMPLES[routeName(route)] ?? (isPlain ? fixed(path) : undefined)
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
