import { expect, it } from 'vitest'
import { revisionRoutes } from './revisions.ts'
import { testClock } from '../../../../../test/support/faults/test-clock.ts'

const DEPLOYMENT = {
  id: 'd',
  name: 'bot',
  secrets: [{ name: 'KEY', updated_at: 1 }],
  active_revision_id: null,
}
const REVISION = {
  id: 'r',
  number: 7,
  status: 'CREATING',
  source_sha256: 'hash',
  created_at: 1,
  updated_at: 1,
  commands: {},
  source_path: 's',
  config_path: 'langgraph.json',
}

it.each([
  ['rollback', 'redeploy', { of: 2 }],
  ['interrupt', 'interrupt', {}],
])('P-15: the audit of a %s names the revision, its source and the secrets', async (action, path, more) => {
  const recorded: object[] = []
  const route = revisionRoutes().find((one) => one.path.endsWith(`/${path}`))
  const context = {
    deps: {
      controlPlane: async () => ({
        redeploy: async () => ({ revision: REVISION, of: { ...REVISION, number: 2 } }),
        interrupt: async () => REVISION,
        get: async () => DEPLOYMENT,
      }),
      identity: { recordChange: async (change: object) => void recorded.push(change) },
      clock: testClock(),
    },
    principal: { organization_id: 'o', workspace_id: 'w', short_key: 'k' },
    params: { id: 'd', revision_id: 'r' },
  }
  await route?.handle(context as never)
  const details = { name: 'bot', revision: 7, source_sha256: 'hash', secrets: ['KEY'], ...more }
  expect(recorded).toEqual([
    { organization_id: 'o', action: `deployment.${action}`, subject_id: 'd', details },
  ])
})
