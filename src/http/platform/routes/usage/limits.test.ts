import { expect, it } from 'vitest'
import { testClock } from '../../../../../test/support/faults/test-clock.ts'
import type { UsageLimit } from '../../../../usage/limits.ts'
import { usageLimitRoutes } from './limits.ts'

const WORKSPACE = '01a1f83d-5201-7000-8000-0000000000a1'
const KEY = '01a1f83d-5201-7000-8000-0000000000b1'

it('TEAM-14: setting, changing and removing a limit is in the audit, repeating it is not', async () => {
  const stored = new Map<string, UsageLimit>()
  const recorded: object[] = []
  const deps = {
    usageLimits: {
      list: async () => [...stored.values()],
      async put(fields: Omit<UsageLimit, 'id' | 'created_at' | 'updated_at'>) {
        const id = `limit of ${fields.workspace_id ?? fields.api_key_id}`
        const limit = { ...fields, id, created_at: 1, updated_at: 1 }
        stored.set(id, limit)
        return limit
      },
      remove: async (_organization: string, id: string) => stored.delete(id),
    },
    identity: {
      names: async () => ({ short_keys: new Map([[KEY, 'lsv2...abcd']]) }),
      recordChange: async (change: object) => void recorded.push(change),
    },
    managed: { ids: async () => new Set() },
    clock: testClock(),
  }
  const principal = { organization_id: 'o', workspace_id: WORKSPACE, workspace_ids: [WORKSPACE] }
  const call = (method: string, more: object): Promise<unknown> => {
    const found = usageLimitRoutes().find((one) => one.method === method)
    return Promise.resolve(found?.handle({ deps, principal, ...more } as never))
  }
  const set = (limit_value: number) =>
    call('PUT', { body: { workspace_id: WORKSPACE, limit_value }, query: {} })
  for (const value of [5, 5, 6]) await set(value)
  await call('PUT', { body: { api_key_id: KEY, limit_value: 1, mode: 'soft' }, query: {} })
  await call('DELETE', { params: { id: `limit of ${WORKSPACE}` }, query: {} })
  await expect(call('DELETE', { params: { id: 'none' }, query: {} })).rejects.toMatchObject({
    code: 'not_found',
  })
  const entry = (action: string, subject_id: string, from: object | null, to: object | null) => ({
    ...{ organization_id: 'o', action, subject_id },
    details: { from, to },
  })
  const hard = (traces_per_month: number) => ({ traces_per_month, mode: 'hard' })
  expect(recorded).toEqual([
    entry('workspace.limits', WORKSPACE, null, hard(5)),
    entry('workspace.limits', WORKSPACE, hard(5), hard(6)),
    entry('key.limits', KEY, null, { traces_per_month: 1, mode: 'soft' }),
    entry('workspace.limits', WORKSPACE, hard(6), null),
  ])
})
