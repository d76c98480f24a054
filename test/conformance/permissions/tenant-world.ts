import { generateApiKey, hashApiKey, shortKey } from '../../../src/identity/api-keys.ts'
import type { ApiKey } from '../../../src/identity/identity-store.ts'
import { newUuid } from '../../../src/base/ids.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { MEDIA } from '../../support/traces/media.ts'
import { BOUNDARY, multipartBody } from '../../support/traces/wire-body.ts'
import type { ApiAnswer, ApiCall, CheckedApi } from '../openapi/checked-api.ts'

/** One record of each kind that a route can name. All of them are in one workspace. */
export interface Objects {
  run_id: string
  /** Another run. An update from another workspace creates a separate run with the same id there. */
  updated_run_id: string
  session_id: string
  /** A view of the project. */
  view_id: string
  alert_id: string
  /** A comment on the run. */
  comment_id: string
  /** A project of the type EXPERIMENT. */
  experiment_id: string
  feedback_id: string
  feedback_key: string
  price_id: string
  job_id: string
  deletion_id: string
  member_id: string
  invite_id: string
  service_key_id: string
  token_id: string
  /** A limit of the service key. */
  limit_id: string
  deployment_id: string
  /** A revision of the deployment whose source cannot be read, so that it is never built. */
  revision_id: string
}

/** A workspace with records, each of which has `marker` in its name. */
export interface Tenant {
  organization: string
  workspace_id: string
  marker: string
  /** Key of an admin who may use the workspace. */
  admin: string
  /** Records that tests use, change and delete. */
  own: Objects
  /** Records that no test changes. */
  kept: Objects
}

export const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
export const ALERT = { figure: 'run_count', comparison: 'above', threshold: '1', window_minutes: 5 }
export const PRICE = { match_pattern: '^zebra$', prompt_cost: 1, completion_cost: 2 }
/** The thread of every run. */
export const THREAD = 'conversation'
export const RANGE = { start_time: '2026-11-01T00:00:00Z', end_time: '2026-11-02T00:00:00Z' }

/** Ids that no record has. */
export function missingObjects(): Objects {
  const names = [
    'run_id',
    'updated_run_id',
    'session_id',
    'view_id',
    'alert_id',
    'comment_id',
    'experiment_id',
    'feedback_id',
    'feedback_key',
    'price_id',
    'job_id',
    'deletion_id',
    'member_id',
    'invite_id',
    'service_key_id',
    'token_id',
    'limit_id',
    'deployment_id',
    'revision_id',
  ]
  return Object.fromEntries(names.map((name) => [name, newUuid()])) as unknown as Objects
}

/** A response's body; throws when the call did not succeed. */
export function bodyOf({ status, text, body }: ApiAnswer): unknown {
  if (status >= 300) throw new Error(`${status} ${text}`)
  return body
}

/** A tenant before it is filled. */
export type Bare = Omit<Tenant, 'own' | 'kept'>

export async function addMember(api: CheckedApi, tenant: Bare, role: string): Promise<string> {
  const { admin: key, workspace_id, marker } = tenant
  const headers = { 'x-tenant-id': workspace_id }
  const body = {
    email: `${marker}-${newUuid()}@example.com`,
    full_name: marker,
    role,
    workspace_ids: [workspace_id],
  }
  const call: ApiCall = { key, headers, method: 'POST', path: '/orgs/current/members', body }
  return (bodyOf(await api(call)) as { user_id: string }).user_id
}

/** A limit of the key that is far above its usage. */
export async function putLimit(api: CheckedApi, tenant: Bare, api_key_id: string): Promise<string> {
  const headers = { 'x-tenant-id': tenant.workspace_id }
  const body = { api_key_id, limit_value: 1_000_000, mode: 'soft' }
  const call: ApiCall = { key: tenant.admin, headers, method: 'PUT', path: '/usage-limits', body }
  return (bodyOf(await api(call)) as { id: string }).id
}

/** Stores a root with an attachment, and with a file in its inputs, in the project. */
export async function sendRun(api: CheckedApi, tenant: Bare, session_id: string): Promise<string> {
  const { admin: key, workspace_id, marker } = tenant
  const id = newUuid()
  const run = {
    id,
    trace_id: id,
    name: marker,
    run_type: 'chain',
    session_id,
    start_time: Date.now(),
    extra: { metadata: { thread_id: THREAD } },
  }
  const parts = [
    { name: `post.${id}`, data: JSON.stringify(run) },
    { name: `post.${id}.inputs`, data: JSON.stringify({ text: marker, file: MEDIA }) },
    { name: `attachment.${id}.note`, data: marker, type: 'text/plain' },
  ]
  const headers = { 'x-tenant-id': workspace_id, ...MULTIPART }
  const body = multipartBody(parts)
  bodyOf(await api({ key, headers, method: 'POST', path: '/runs/multipart', body }))
  return id
}

/** Stores feedback on a run of the tenant. */
export async function addFeedback(api: CheckedApi, tenant: Bare, run_id: string): Promise<string> {
  const { admin: key, workspace_id, marker } = tenant
  const headers = { 'x-tenant-id': workspace_id }
  const body = { run_id, key: 'quality', comment: marker }
  return (bodyOf(await api({ key, headers, method: 'POST', path: '/feedback', body })) as { id: string }).id
}

/** Creates a feedback config of the tenant; returns its key. */
export async function addFeedbackConfig(api: CheckedApi, tenant: Bare): Promise<string> {
  const headers = { 'x-tenant-id': tenant.workspace_id }
  const body = {
    feedback_key: `${tenant.marker}-${newUuid()}`,
    feedback_config: { type: 'continuous', min: 0, max: 1 },
  }
  const call: ApiCall = { key: tenant.admin, headers, method: 'POST', path: '/feedback-configs', body }
  bodyOf(await api(call))
  return body.feedback_key
}

/** A deployment without a revision. */
export async function addDeployment(api: CheckedApi, tenant: Bare): Promise<string> {
  const headers = { 'x-tenant-id': tenant.workspace_id }
  const body = { name: `${tenant.marker}-${newUuid().slice(0, 8)}`, source: 'internal_source' }
  const call: ApiCall = { key: tenant.admin, headers, method: 'POST', path: '/v2/deployments', body }
  return (bodyOf(await api(call)) as { id: string }).id
}

/** A revision of the deployment whose source is not an archive. */
async function addRevision(api: CheckedApi, { admin: key, workspace_id }: Bare, id: string): Promise<string> {
  const headers = { 'x-tenant-id': workspace_id }
  const path = `/v2/deployments/${id}`
  const asked = await api({ key, headers, method: 'POST', path: `${path}/upload-url` })
  const { upload_url, object_path } = bodyOf(asked) as { upload_url: string; object_path: string }
  await fetch(upload_url, { method: 'PUT', body: 'no archive' })
  const body = { source_revision_config: { source_tarball_path: object_path } }
  const changed = bodyOf(await api({ key, headers, method: 'PATCH', path, body }))
  return (changed as { latest_revision_id: string }).latest_revision_id
}

/**
 * Creates a run with an attachment and feedback, a project, a price, a job, a member with a token, and a service key.
 */
export async function fillTenant(api: CheckedApi, tenant: Bare): Promise<Objects> {
  const { admin: key, workspace_id, marker } = tenant
  const headers = { 'x-tenant-id': workspace_id }
  const post = async (path: string, body: unknown, id = 'id'): Promise<string> => {
    const made = bodyOf(await api({ key, headers, method: 'POST', path, body })) as Record<string, string>
    return made[id] ?? ''
  }
  const session_id = await post('/sessions', { name: `${marker}-${newUuid()}` })
  const experiment_id = await post('/v2/sessions', { type: 'EXPERIMENT', name: `${marker}-${newUuid()}` })
  const view_id = await post(`/sessions/${session_id}/views`, { display_name: marker })
  const alert_id = await post('/alerts', { ...ALERT, session_id, name: marker })
  const run_id = await sendRun(api, tenant, session_id)
  const comment_id = await post(`/runs/${run_id}/comments`, { text: marker })
  const updated_run_id = await sendRun(api, tenant, session_id)
  const feedback_id = await addFeedback(api, tenant, run_id)
  const feedback_key = await addFeedbackConfig(api, tenant)
  const price_id = await post('/model-price-map', {
    ...PRICE,
    name: `${marker}-${newUuid()}`,
  })
  const job_id = await post('/runs/reprice', RANGE, 'job_id')
  const deletion_id = await post(
    '/runs/delete',
    { session: session_id, filter: 'eq(name, "nothing")' },
    'job_id',
  )
  const workspaces = [workspace_id]
  const service_key_id = await post('/orgs/current/service-keys', {
    description: marker,
    workspaces,
  })
  const member_id = await addMember(api, tenant, 'user')
  const invite_id = await post('/orgs/current/invites', { role: 'user', workspace_ids: workspaces })
  const token = { description: marker, user_id: member_id, workspaces }
  const token_id = await post('/orgs/current/personal-access-tokens', token)
  const limit_id = await putLimit(api, tenant, service_key_id)
  const deployment_id = await addDeployment(api, tenant)
  const revision_id = await addRevision(api, tenant, deployment_id)
  return {
    run_id,
    updated_run_id,
    session_id,
    view_id,
    alert_id,
    comment_id,
    experiment_id,
    feedback_id,
    feedback_key,
    price_id,
    job_id,
    deletion_id,
    service_key_id,
    member_id,
    invite_id,
    token_id,
    limit_id,
    deployment_id,
    revision_id,
  }
}

/**
 * Creates records that cannot be created through the API: a second organization, whose key is returned, and an expired
 * key.
 */
export async function openBackDoor(file: string) {
  const database = openSqlite(file)
  const identity = createIdentityStore(database)
  const store = async (fields: Pick<ApiKey, 'organization_id'> & Partial<ApiKey>): Promise<string> => {
    const key = generateApiKey('service')
    const stored: ApiKey = {
      id: newUuid(),
      short_key: shortKey(key),
      description: 'back door',
      user_id: null,
      role: 'admin',
      read_only: false,
      workspace_ids: null,
      default_workspace_id: null,
      created_at: Date.now(),
      expires_at: null,
      last_used_at: null,
      ...fields,
    }
    const actor = { api_key_id: stored.id, short_key: 'test', user_id: null, at: Date.now() }
    if (await identity.createKey({ ...stored, key_hash: hashApiKey(key) }, actor)) return key
    return await store(fields)
  }
  return {
    storeKey: store,
    async makeOrganization(marker: string): Promise<{ key: string; workspace_id: string }> {
      const [organization_id, workspace_id] = [newUuid(), newUuid()]
      const at = Date.now()
      await database.query('INSERT INTO organizations (id, display_name, created_at) VALUES (?, ?, ?)', [
        organization_id,
        marker,
        at,
      ])
      const workspace = { id: workspace_id, organization_id, display_name: marker, created_at: at }
      const actor = { api_key_id: newUuid(), short_key: 'test', user_id: null, at }
      await identity.createWorkspace(workspace, actor)
      return { workspace_id, key: await store({ organization_id, default_workspace_id: workspace_id }) }
    },
    close: () => database.close(),
  }
}
