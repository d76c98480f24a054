import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { permissionsOf } from '../../../src/identity/permissions.ts'
import { routeName } from '../../../src/http/api/access.ts'
import { platformRoutes } from '../../../src/http/platform/routes.ts'
import type { PlatformRoute } from '../../../src/http/platform/route.ts'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { campaignSample } from '../../support/campaign.ts'
import { KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { type ApiAnswer, type CheckedApi, openCheckedApi } from '../openapi/checked-api.ts'
import { disposable, sampleOf } from './route-samples.ts'
import { type Caller, callOf, isFixed, type Sample, type Target } from './sample.ts'
import { bodyOf, fillTenant, missingObjects, openBackDoor, type Tenant } from './tenant-world.ts'

/**
 * Tests every route with every kind of caller, for own, foreign and missing targets, both by X-Tenant-Id and by id. The
 * expected status follows from what the route says that it needs, and from the place of the target, and from nothing
 * else.
 */

const ROLES = ['admin', 'operator', 'user', 'viewer'] as const
type Role = (typeof ROLES)[number]
const SERVICE = '/orgs/current/service-keys'
const PERSONAL = '/orgs/current/personal-access-tokens'

let dir: string
let weir: WeirProcess
let api: CheckedApi
let tenants: Record<'a' | 'b' | 'c', Tenant>
const callers = new Map<string, Caller>()
const routes = platformRoutes()
let before: unknown[]

async function send<T>(method: string, path: string, body?: unknown, key = KEY): Promise<T> {
  return bodyOf(await api({ key, method, path, ...(body !== undefined && { body }) })) as T
}

async function fill(bare: Omit<Tenant, 'own' | 'kept'>): Promise<Tenant> {
  return { ...bare, own: await fillTenant(api, bare), kept: await fillTenant(api, bare) }
}

const NOBODY: Caller = {
  name: 'nobody',
  organization: 'o1',
  key: undefined,
  isKey: false,
  role: 'viewer',
  member_role: null,
  read_only: false,
  workspace_ids: [],
  all_workspaces: false,
  default_workspace_id: null,
  user_id: null,
}

function addCaller(name: string, fields: Partial<Caller>): void {
  callers.set(name, { ...NOBODY, isKey: true, name, ...fields })
}

/** Creates a service key; without named workspaces it is valid in all of them. */
async function addServiceKey(
  name: string,
  {
    role,
    workspace_id,
    preferred = null,
    read_only = false,
  }: {
    role: Role
    workspace_id?: string
    preferred?: string | null
    read_only?: boolean
  },
): Promise<string> {
  const body = {
    description: name,
    role,
    read_only,
    ...(workspace_id !== undefined && { workspaces: [workspace_id] }),
    default_workspace_id: preferred,
  }
  const { key, id } = await send<SchemaTypes['api-key-created']>('POST', SERVICE, body)
  const all = [tenants.a.workspace_id, tenants.b.workspace_id]
  addCaller(name, {
    key,
    role,
    read_only,
    workspace_ids: workspace_id === undefined ? all : [workspace_id],
    all_workspaces: workspace_id === undefined,
    default_workspace_id: workspace_id ?? preferred,
  })
  return id
}

/** Creates a member of workspace A with a token of `role`; afterwards the member's role is changed to `member_role`. */
async function addToken(name: string, role: Role, member_role = role, read_only = false): Promise<string> {
  const workspace_ids = [tenants.a.workspace_id]
  const strongest = ROLES.find((one) => one === role || one === member_role) ?? role
  const body = { email: `${name.replaceAll(' ', '-')}@example.com`, role: strongest, workspace_ids }
  const { user_id } = await send<SchemaTypes['member']>('POST', '/orgs/current/members', body)
  const token = { description: name, user_id, role, read_only }
  const { key } = await send<SchemaTypes['api-key-created']>('POST', PERSONAL, token)
  if (member_role !== strongest)
    await send('PATCH', `/orgs/current/members/${user_id}`, { role: member_role })
  const place = { workspace_ids, default_workspace_id: tenants.a.workspace_id }
  addCaller(name, { key, role, member_role, read_only, user_id, ...place })
  return user_id
}

async function addCallers(door: Awaited<ReturnType<typeof openBackDoor>>): Promise<void> {
  const { a, b, c } = tenants
  const here = a.workspace_id
  for (const role of ROLES) await addServiceKey(`service ${role}`, { role, workspace_id: here })
  for (const role of ROLES) await addToken(`token ${role}`, role)
  await addServiceKey('service read-only', { role: 'admin', workspace_id: here, read_only: true })
  await addServiceKey('service of all workspaces', { role: 'admin', preferred: here })
  await addServiceKey('viewer of all workspaces', { role: 'viewer', preferred: here })
  await addServiceKey('service without a default', { role: 'admin' })
  await addServiceKey('service of the other workspace', { role: 'admin', workspace_id: b.workspace_id })
  await addToken('token read-only', 'admin', 'admin', true)
  await addToken('token viewer of an admin', 'viewer', 'admin')
  await addToken('token admin of a demoted user', 'admin', 'user')
  addCaller('admin of the other organization', {
    key: c.admin,
    organization: 'o2',
    role: 'admin',
    workspace_ids: [c.workspace_id],
    all_workspaces: true,
    default_workspace_id: c.workspace_id,
  })
  const { id: organization_id } = await send<{ id: string }>('GET', '/orgs/current')
  const expired = { organization_id, expires_at: Date.now() - 1, workspace_ids: [here] }
  addCaller('expired', { key: await door.storeKey(expired), isKey: false })
  const gone = await addServiceKey('deleted', { role: 'admin', workspace_id: here })
  await send('DELETE', `${SERVICE}/${gone}`)
  const removed = await addToken('token of a removed member', 'admin')
  await send('DELETE', `/orgs/current/members/${removed}`)
  for (const name of ['deleted', 'token of a removed member'])
    addCaller(name, { ...callers.get(name), isKey: false })
  addCaller('unknown', { key: `lsv2_sk_${'0'.repeat(32)}_${'0'.repeat(10)}`, isKey: false })
  addCaller('nobody', { isKey: false })
}

async function openWorld(): Promise<void> {
  dir = await mkdtemp(join(tmpdir(), 'weir-permissions-'))
  weir = await startWeir(dir)
  api = await openCheckedApi(weir.url)
  const [home] = await send<SchemaTypes['workspace'][]>('GET', '/workspaces')
  const other = await send<SchemaTypes['workspace']>('POST', '/workspaces', { display_name: 'zebra-b' })
  const door = await openBackDoor(join(dir, 'weir.db'))
  try {
    const made = await door.makeOrganization('zebra-c')
    tenants = {
      a: await fill({ organization: 'o1', marker: 'zebra-a', admin: KEY, workspace_id: home?.id ?? '' }),
      b: await fill({ organization: 'o1', marker: 'zebra-b', admin: KEY, workspace_id: other.id }),
      c: await fill({
        organization: 'o2',
        marker: 'zebra-c',
        admin: made.key,
        workspace_id: made.workspace_id,
      }),
    }
    await addCallers(door)
  } finally {
    await door.close()
  }
  await weir.drained()
  before = await Promise.all(Object.values(tenants).map(snapshot))
}

function isReachable(caller: Caller, { organization, workspace_id }: Target): boolean {
  if (caller.organization !== organization) return false
  return caller.all_workspaces || caller.workspace_ids.includes(workspace_id)
}

/** The statuses that the route allows for the call; `tenant` is X-Tenant-Id. */
function expectedStatus(
  route: PlatformRoute,
  sample: Sample,
  caller: Caller,
  target: Target,
  tenant?: string,
) {
  const { needs, whole_organization, acts_in } = route
  const { status = [route.status] } = sample
  const success = typeof status === 'function' ? status(caller) : status
  if (needs === 'open') return success
  if (!caller.isKey) return [401]
  const [first = null] = acts_in === 'organization' ? caller.workspace_ids : []
  const acting = tenant ?? caller.default_workspace_id ?? first
  if (acting === null || !caller.workspace_ids.includes(acting)) return [403]
  if (
    needs === 'any writing key' ? caller.read_only : needs !== 'any key' && !permissionsOf(caller).has(needs)
  )
    return [403]
  if (whole_organization === true && !caller.all_workspaces) return [403]
  if (success.includes(422)) return success
  if (sample.reach === 'request' && target.workspace_id !== acting) return [404]
  if (sample.reach === 'caller' && !isReachable(caller, target)) return [404]
  if (sample.reach === 'grant' && !isReachable(caller, target)) return [403]
  return success
}

interface Try {
  route: PlatformRoute
  caller: Caller
  target: Target
  tenant?: string | undefined
}

/** Makes the call; returns the response and its faults. */
async function attempt({
  route,
  caller,
  target,
  tenant,
}: Try): Promise<{ answer: ApiAnswer; faults: string[] }> {
  const name = routeName(route)
  const sample = sampleOf(route)
  if (sample === undefined) throw new Error(`no sample for ${name}`)
  const { headers, ...call } = callOf(route, sample, target)
  const tenantHeader = tenant === undefined ? {} : { 'x-tenant-id': tenant }
  const answer = await api({
    ...call,
    key: caller.key,
    method: route.method,
    headers: { ...headers, ...tenantHeader },
  })
  const expected = expectedStatus(route, sample, caller, target, tenant)
  const what = `${name} in ${tenant ?? 'no workspace'} about ${target.workspace_id}`
  const faults = expected.includes(answer.status)
    ? []
    : [`${what}: ${answer.status} instead of ${expected.join(' or ')}: ${answer.text.slice(0, 200)}`]
  const sent = call.path + JSON.stringify(call.body ?? '')
  return {
    answer,
    faults: [...faults, ...leaks(caller, answer, sent).map((leak) => `${what}: shows ${leak}`)],
  }
}

/** Data of other tenants that a response contains, except for ids that the caller has sent. */
function leaks(caller: Caller, { text }: ApiAnswer, sent: string): string[] {
  const foreign = Object.values(tenants).filter(
    (tenant) => !isReachable(caller, { ...tenant, objects: tenant.kept }) || !caller.isKey,
  )
  const secrets = foreign.flatMap(({ marker, workspace_id, own, kept }) => [
    marker,
    workspace_id,
    ...Object.values(own),
    ...Object.values(kept),
  ])
  return secrets.filter((secret) => text.includes(secret) && !sent.includes(secret))
}

/** The caller's own workspace, or the first one for unknown callers. */
function homeOf(caller: Caller): Tenant {
  const [home] = Object.values(tenants).filter(({ workspace_id }) =>
    caller.workspace_ids.includes(workspace_id),
  )
  return home ?? tenants.a
}

/**
 * A target in the tenant. A permitted caller gets a new one, which it may destroy; the others get one that must not
 * change.
 */
async function targetIn(tenant: Tenant, caller: Caller, name: string): Promise<Target> {
  const kept = { ...tenant, objects: tenant.kept }
  return caller.isKey && isReachable(caller, kept) ? await disposable(api, name, tenant) : kept
}

async function tryRoute(route: PlatformRoute, caller: Caller): Promise<string[]> {
  const name = routeName(route)
  const home = homeOf(caller)
  const faults: string[] = []
  const run = async (target: Target, tenant?: string): Promise<ApiAnswer> => {
    const { answer, faults: found } = await attempt({ route, caller, target, tenant })
    faults.push(...found)
    return answer
  }
  const tryForeign = async (tenant: Tenant): Promise<void> => {
    const nowhere = { organization: 'none', workspace_id: crypto.randomUUID(), objects: missingObjects() }
    const missing = await run(nowhere, home.workspace_id)
    const foreign = await run(await targetIn(tenant, caller, name), home.workspace_id)
    if (isReachable(caller, { ...tenant, objects: tenant.kept })) return
    if ([403, 404].includes(foreign.status) && foreign.text !== missing.text)
      faults.push(`${name}: foreign is told from missing: ${foreign.text} ${missing.text}`)
  }
  await run(await targetIn(home, caller, name))
  if (!caller.isKey || route.needs === 'open') return faults
  const all = Object.values(tenants)
  const others = isFixed(sampleOf(route) ?? {}) ? [] : all.filter((tenant) => tenant !== home)
  const ways = [
    ...all.map((tenant) => async () => run(await targetIn(home, caller, name), tenant.workspace_id)),
    ...others.map((tenant) => () => tryForeign(tenant)),
  ]
  // A short campaign tries only some of the ways, always including the first. Pairs of route and caller begin with
  // different ways, so that all ways are covered.
  const turn = (routes.indexOf(route) + CALLERS.indexOf(caller.name)) % ways.length
  for (const way of campaignSample([...ways.slice(turn), ...ways.slice(0, turn)])) await way()
  return faults
}

/** The API's answers about the targets that must not change. */
async function snapshot({ admin, workspace_id, kept }: Tenant): Promise<unknown[]> {
  const read = async (path: string): Promise<unknown> => {
    const found = bodyOf(await api({ key: admin, path, headers: { 'x-tenant-id': workspace_id } }))
    // Links to attachments end at a full hour, which may pass meanwhile.
    return JSON.parse(JSON.stringify(found).replaceAll(/expires=\d+&signature=\w+/g, ''))
  }
  const { run_id, updated_run_id, session_id, price_id, member_id, service_key_id, token_id, limit_id } = kept
  const lists: [path: string, key: string, id: string][] = [
    ['/model-price-map', 'id', price_id],
    ['/orgs/current/members', 'user_id', member_id],
    [SERVICE, 'id', service_key_id],
    [`${PERSONAL}?user_id=${member_id}`, 'id', token_id],
    ['/usage-limits', 'id', limit_id],
  ]
  const listed = lists.map(async ([path, key, id]) => {
    const items = (await read(path)) as Record<string, unknown>[]
    return items.find((item) => item[key] === id)
  })
  const paths = [
    `/runs/${run_id}`,
    `/runs/${updated_run_id}`,
    `/feedback?run=${run_id}&run=${updated_run_id}`,
    `/sessions/${session_id}`,
  ]
  const things = await Promise.all([...paths.map(read), ...listed])
  expect(things).not.toContain(undefined)
  return things
}

const CALLERS = [
  ...ROLES.flatMap((role) => [`service ${role}`, `token ${role}`]),
  'service read-only',
  'service of all workspaces',
  'viewer of all workspaces',
  'service without a default',
  'service of the other workspace',
  'token read-only',
  'token viewer of an admin',
  'token admin of a demoted user',
  'admin of the other organization',
  'expired',
  'deleted',
  'token of a removed member',
  'unknown',
  'nobody',
]

/** Registers the tests of the matrix, on a server that only they use. */
export function permissionMatrix(): void {
  beforeAll(openWorld)
  afterAll(async () => {
    await weir.stop()
    await rm(dir, { recursive: true })
  })

  it('has a caller of every kind', () => {
    expect([...callers.keys()].toSorted()).toEqual(CALLERS.toSorted())
  })

  it.each(CALLERS)('%s gets the response of the table, without data of others', async (name) => {
    const caller = callers.get(name)
    if (caller === undefined) throw new Error('no such caller')
    const faults: string[] = []
    for (const route of routes) faults.push(...(await tryRoute(route, caller)))
    expect(faults.join('\n')).toBe('')
  })

  it('does not change records of other tenants', async () => {
    await weir.drained()
    expect(await Promise.all(Object.values(tenants).map(snapshot))).toEqual(before)
    const [traceRun] = await snapshot(tenants.b)
    expect(traceRun).toMatchObject({ name: 'zebra-b', outputs: null, inputs: { text: 'zebra-b' } })
  })
}
