import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AppFixture, startApp, WORKSPACE } from '../../../test/support/servers/app-fixture.ts'
import { AppError } from '../../base/errors.ts'

const OTHER = '33333333-3333-4333-8333-333333333333'

let fixture: AppFixture
beforeAll(async () => {
  const unserved = (workspace_id: string) => ({
    refusal: new AppError('deployment_not_ready', { message: 'agent.ts:1: no such package' }),
    workspace_id,
  })
  fixture = await startApp({
    mounts: { find: (name) => ({ own: unserved(WORKSPACE), other: unserved(OTHER) })[name] },
  })
})
afterAll(() => fixture.stop())

it.each([
  ['a key of the workspace', '/deployments/own/info', undefined, 'agent.ts:1: no such package'],
  ['an unknown key', '/deployments/own/info', 'lsv2_pt_x', 'No revision of the deployment is active yet.'],
  ['no key', '/deployments/own/info', '', 'No revision of the deployment is active yet.'],
  [
    'a key of another workspace',
    '/api/v1/deployments/other/threads',
    undefined,
    'No revision of the deployment is active yet.',
  ],
])(
  'P-34: the reason why a deployment is not ready is told by the key: %s',
  async (_who, path, key, detail) => {
    const answer = await fixture.request(path, key === undefined ? {} : { headers: { 'x-api-key': key } })
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true])
    expect(await answer.json()).toMatchObject({ code: 'deployment_not_ready', detail })
  },
)
