import { expect, it } from 'vitest'
import type { Revision, StoredDeployment } from '../model.ts'
import type { DeploymentStore } from './deployment-store.ts'
import { withServerDeployment } from './server-deployment.ts'

const ROWS = ['c', 'b', 'a'].map((id) => ({ id, name: id }) as StoredDeployment)
const deployment = { id: 's', workspace_id: 'w', name: 'mine', managed_by: 'server' } as StoredDeployment
const revision = { id: 'r', number: 1, status: 'DEPLOYED' } as Revision
const store = withServerDeployment(
  {
    get: async (_workspace: string, id: string) => ROWS.find((row) => row.id === id),
    find: async (id: string) => ROWS.find((row) => row.id === id),
    list: async (
      _workspace: string,
      { offset, limit, name }: { offset: number; limit: number; name?: string },
    ) => ROWS.filter((row) => name === undefined || row.name === name).slice(offset, offset + limit),
    revision: async () => undefined,
    revisions: async () => [],
  } as unknown as DeploymentStore,
  { deployment, revision },
)

it.each([
  [{ offset: 0, limit: 3 }, ['c', 'b', 'a']],
  [{ offset: 0, limit: 4 }, ['c', 'b', 'a', 's']],
  [{ offset: 2, limit: 2 }, ['a', 's']],
  [{ offset: 3, limit: 2 }, ['s']],
  [{ offset: 4, limit: 2 }, []],
  [{ offset: 0, limit: 2, name: 'mine' }, ['s']],
  [{ offset: 0, limit: 2, name: 'b' }, ['b']],
  [{ offset: 0, limit: 9, name_contains: 'in' }, ['c', 'b', 'a', 's']],
  [{ offset: 0, limit: 9, name_contains: 'no' }, ['c', 'b', 'a']],
])('P-2: the deployment of GRAPHS is the last one of the list: %o', async (filter, ids) => {
  expect((await store.list('w', filter)).map(({ id }) => id)).toEqual(ids)
})

it('D-65, P-2: it is in its workspace alone, with one revision', async () => {
  expect(await store.get('w', 's')).toBe(deployment)
  expect(await store.get('other', 's')).toBeUndefined()
  expect((await store.list('other', { offset: 0, limit: 9 })).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  expect(await store.revisions('s', { offset: 0, limit: 9 })).toEqual([revision])
  expect(await store.revisions('s', { offset: 1, limit: 9 })).toEqual([])
  expect(await store.revisions('s', { offset: 0, limit: 9, status: 'BUILD_FAILED' })).toEqual([])
  expect(await store.revision('s', 'r')).toBe(revision)
  expect(await store.revision('s', 'x')).toBeUndefined()
})
