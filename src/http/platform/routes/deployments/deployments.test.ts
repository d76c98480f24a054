import { expect, it } from 'vitest'
import { testClock } from '../../../../../test/support/faults/test-clock.ts'
import { NO_COMMANDS } from '../../../../deploy/model.ts'
import { readParameters } from '../../../api/parameters.ts'
import { deploymentRoutes } from './deployments.ts'

const DEPLOYMENT = {
  id: 'd',
  workspace_id: 'w',
  name: 'bot',
  type: 'dev',
  secrets: [{ name: 'KEY', updated_at: 1 }],
  commands: NO_COMMANDS,
  active_revision_id: 'r',
  created_at: 1,
  updated_at: 1,
}
const REVISION = { id: 'r', number: 7, source_sha256: 'hash' }
const CONTROL = {
  hosting: { status: () => undefined },
  runtimes: { name: 'process', isolation: 'none' },
  update: async () => ({ deployment: DEPLOYMENT, revision: REVISION }),
  get: async () => DEPLOYMENT,
  revision: async () => REVISION,
  remove: async () => DEPLOYMENT,
  list: () => expect.unreachable(),
}

function routeOf(method: string, path: string) {
  const found = deploymentRoutes().find((one) => one.method === method && one.path === path)
  if (found === undefined) throw new Error(`${method} ${path} is no route.`)
  return found
}

it.each([
  ['update', 'PATCH'],
  ['delete', 'DELETE'],
])('P-15: the audit names the revision, its source and all secrets: %s', async (action, method) => {
  const recorded: object[] = []
  const context = {
    deps: {
      controlPlane: async () => CONTROL,
      identity: { recordChange: async (change: object) => void recorded.push(change) },
      publicUrl: 'http://weir.test',
      clock: testClock(),
    },
    principal: { organization_id: 'o', workspace_id: 'w', short_key: 'k' },
    req: { headers: { host: 'weir.test' }, socket: {} },
    params: { id: 'd' },
    body: { secrets: [] },
  }
  await routeOf(method, '/v2/deployments/{id}').handle(context as never)
  const details = { name: 'bot', revision: 7, source_sha256: 'hash', secrets: ['KEY'] }
  expect(recorded).toEqual([
    { organization_id: 'o', action: `deployment.${action}`, subject_id: 'd', details },
  ])
})

it.each(['00000000-0000-4000-8000-000000000000', 'agent-1'])(
  'P-10: the list refuses the agent_id %s in words',
  async (agent_id) => {
    const route = routeOf('GET', '/v2/deployments')
    const query = readParameters(route.query, 'query', (name) => (name === 'agent_id' ? [agent_id] : []))
    const context = { deps: { controlPlane: async () => CONTROL }, principal: { workspace_id: 'w' }, query }
    await expect(route.handle(context as never)).rejects.toMatchObject({
      code: 'agents_unsupported',
      status: 400,
    })
  },
)
