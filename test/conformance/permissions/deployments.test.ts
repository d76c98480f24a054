import { afterAll, describe, expect, it } from 'vitest'
import { type Permission, permissionsOf } from '../../../src/identity/permissions.ts'
import { deploymentRoutes } from '../../../src/http/deployment/routes.ts'
import { useDeployment } from '../deployments/use-deployment.ts'

/**
 * Every route of the deployment API × every kind of key: 401 and 403 exactly where the table requires it
 * (src/http/deployment/permissions.ts). Ids are unknown and bodies are empty: a permitted caller gets 404 or 422 at
 * most.
 */
const ID = 'a5a5a5a5-0000-4000-8000-000000000000'
const ROLES = ['admin', 'operator', 'user', 'viewer'] as const
const setup = useDeployment()
const held: AbortController[] = []
afterAll(() => {
  for (const request of held) request.abort()
})

interface KeyOptions {
  role?: (typeof ROLES)[number]
  read_only?: boolean
  workspaces?: string[]
}

async function makeKey(options: KeyOptions): Promise<string> {
  const body = { description: 'test', default_workspace_id: null, ...options }
  const made = await setup().weir.json<{ key: string }>('/orgs/current/service-keys', body)
  return made.key
}

async function homeWorkspace(): Promise<string> {
  const [home] = await setup().weir.json<{ id: string }[]>('/workspaces')
  return home?.id ?? ''
}

/** Status of each route for a request with these headers. */
async function statuses(headers: Record<string, string>): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const { method, path } of deploymentRoutes()) {
    const url = setup().weir.deploymentUrl + path.replaceAll(/\{\w+\}/g, ID)
    const takesBody = method !== 'GET'
    const answer = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...headers },
      ...(takesBody && { body: '{}' }),
    })
    found.set(`${method} ${path}`, answer.status)
    await answer.body?.cancel()
  }
  return found
}

/** Routes that respond with 401 or 403 although permitted, or not with the status that the table requires. */
function wrong(
  found: Map<string, number>,
  permissions: ReadonlySet<Permission> | undefined,
  refusal: number,
): string[] {
  return deploymentRoutes().flatMap(({ method, path, access: { need } }) => {
    const status = found.get(`${method} ${path}`) ?? 0
    const may = need === 'open' || (permissions?.has(need as Permission) ?? false)
    const fits = may ? ![401, 403, 500].includes(status) : status === refusal
    return fits ? [] : [`${method} ${path} needs ${need}: ${status}`]
  })
}

describe('keys of the deployment', () => {
  it('may what their role allows', async () => {
    const workspaces = [await homeWorkspace()]
    for (const role of ROLES) {
      for (const read_only of [false, true]) {
        const key = await makeKey({ role, read_only, workspaces })
        const permissions = permissionsOf({ role, member_role: null, read_only })
        expect([role, wrong(await statuses({ 'x-api-key': key }), permissions, 403)]).toEqual([role, []])
      }
    }
  })

  it('are required for all routes but the open ones', async () => {
    expect(wrong(await statuses({}), undefined, 401)).toEqual([])
    expect(wrong(await statuses({ 'x-api-key': 'nope' }), undefined, 401)).toEqual([])
  })

  it('must be of its workspace, and need not name it', async () => {
    const { weir } = setup()
    const other = await weir.json<{ id: string }>('/workspaces', { display_name: 'Other' })
    const foreign = await makeKey({ role: 'admin', workspaces: [other.id] })
    expect(wrong(await statuses({ 'x-api-key': foreign }), undefined, 403)).toEqual([])
    const home = await homeWorkspace()
    const admin = permissionsOf({ role: 'admin', member_role: null, read_only: false })
    const everywhere = await makeKey({ role: 'admin' })
    expect(wrong(await statuses({ 'x-api-key': everywhere }), admin, 403)).toEqual([])
    const named = { 'x-api-key': everywhere, 'x-tenant-id': home }
    expect(wrong(await statuses(named), admin, 403)).toEqual([])
    const elsewhere = { 'x-api-key': everywhere, 'x-tenant-id': other.id }
    expect(wrong(await statuses(elsewhere), undefined, 403)).toEqual([])
  })

  it('that only read do not cancel by disconnecting', async () => {
    const { client, weir } = setup()
    const key = await makeKey({ role: 'viewer', workspaces: [await homeWorkspace()] })
    const { thread_id } = await client.threads.create()
    const { run_id } = await client.runs.create(thread_id, 'tokens', { input: { sleep: 600_000 } })
    const path = `${weir.deploymentUrl}/threads/${thread_id}/runs/${run_id}/join`
    const answer = await fetch(`${path}?cancel_on_disconnect=1`, { headers: { 'x-api-key': key } })
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'forbidden' }])
    const left = new AbortController()
    held.push(left)
    const joined = await fetch(path, { headers: { 'x-api-key': key }, signal: left.signal })
    expect(joined.status).toBe(200)
    left.abort()
    await client.runs.cancel(thread_id, run_id, true)
  })
})
