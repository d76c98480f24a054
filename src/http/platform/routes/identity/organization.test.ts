import { expect, it } from 'vitest'
import { organizationRoutes } from './organization.ts'

async function read(path: string, deps: object): Promise<unknown> {
  const found = organizationRoutes().find((one) => one.path === path)
  const principal = { organization_id: 'o', workspace_id: 'w' }
  return (await found?.handle({ deps, principal } as never))?.body
}

it.each(['developer', 'plus', 'startup', 'enterprise', undefined])(
  'P-12: the organization has the plan of ORGANIZATION_PLAN: %s',
  async (plan) => {
    const identity = { organization: async () => ({ id: 'o', display_name: 'Acme' }) }
    expect(await read('/orgs/current', { identity, ...(plan && { plan }) })).toEqual({
      id: 'o',
      display_name: 'Acme',
      plan: plan ?? 'enterprise',
    })
  },
)

it('TEAM-11: the retention of a workspace counts before that of the server', async () => {
  const deps = { projects: { retention_days: 14, newRetention: async () => 400 } }
  const own = { default_trace_tier: 'longlived', longlived_ttl_days: 400, tenant_id: 'w' }
  for (const path of ['/ttl-settings', '/workspaces/current/ttl-settings'])
    expect(await read(path, deps)).toMatchObject([own])
  expect(await read('/orgs/ttl-settings', deps)).toMatchObject([
    { default_trace_tier: 'shortlived', tenant_id: null },
  ])
})
