import { expect, it } from 'vitest'
import { type ControlPlaneOptions, createControlPlane } from './control-plane.ts'
import { NO_COMMANDS, type Revision, type StoredDeployment } from './model.ts'
import type { DeploymentStore } from './stores/deployment-store.ts'
import { withServerDeployment } from './stores/server-deployment.ts'
import { testClock } from '../../test/support/faults/test-clock.ts'

const DEPLOYER = { organization_id: 'o', workspace_id: 'w', short_key: 'lsv2_…' }

/** A control plane with a revision, whose artifact is kept in the place `where`. */
function planeWith(where: 'here' | 'shared' | 'nowhere') {
  const added: object[] = []
  const plane = createControlPlane({
    store: {
      get: async () => ({ id: 'd', workspace_id: 'w' }),
      revision: async () => ({ id: 'r', number: 3, artifact_sha256: 'a' }),
      async addRevision(_id: string, wanted: object) {
        added.push(wanted)
        return { id: 'n', number: 9 }
      },
    },
    artifacts: { has: async () => where === 'here' },
    files: { has: async (_id: string, path: string) => where === 'shared' && path === 'artifacts/d/a' },
    runtimes: { assertUsable: async () => undefined },
    worker: { wake: async () => undefined },
    changed: () => undefined,
  } as unknown as ControlPlaneOptions)
  return { added, redeploy: () => plane.redeploy(DEPLOYER, 'd', 'r') }
}

it('P-1: the name of a deployment of GRAPHS is taken', async () => {
  const made: string[] = []
  const plane = createControlPlane({
    store: {
      async create(wanted: StoredDeployment) {
        made.push(wanted.name)
        return wanted
      },
    },
    runtimes: { assertUsable: async () => undefined },
    hosting: { announce: () => undefined },
    clock: testClock(),
    plan: 'plus',
    isOfServer: async (name: string) => name === 'taken',
    changed: () => undefined,
  } as unknown as ControlPlaneOptions)
  const create = (name: string) =>
    plane.create(DEPLOYER, { name, type: 'dev', secrets: undefined, commands: NO_COMMANDS })
  await expect(create('taken')).rejects.toMatchObject({ code: 'deployment_name_taken' })
  await create('free')
  expect(made).toEqual(['free'])
})

it('P-1: a name that another server announces during the creation is not used', async () => {
  const rows: string[] = []
  const plane = createControlPlane({
    store: {
      async create(wanted: StoredDeployment) {
        rows.push(wanted.id)
        return wanted
      },
      erase: async (id: string) => void rows.splice(rows.indexOf(id), 1),
    },
    runtimes: { assertUsable: async () => undefined },
    hosting: { announce: () => expect.unreachable() },
    clock: testClock(),
    plan: 'plus',
    isOfServer: async () => rows.length > 0,
    changed: () => expect.unreachable(),
  } as unknown as ControlPlaneOptions)
  const wanted = { name: 'theirs', type: 'dev', secrets: undefined, commands: NO_COMMANDS } as const
  await expect(plane.create(DEPLOYER, wanted)).rejects.toMatchObject({ code: 'deployment_name_taken' })
  expect(rows).toEqual([])
})

it('P-35: a rollback to a revision whose build is not kept any more is refused', async () => {
  const { added, redeploy } = planeWith('nowhere')
  await expect(redeploy()).rejects.toMatchObject({ code: 'build_not_kept', status: 409 })
  expect(added).toEqual([])
})

it.each(['here', 'shared'] as const)('P-35: a rollback uses a build that is kept %s', async (where) => {
  const { added, redeploy } = planeWith(where)
  expect(await redeploy()).toMatchObject({ revision: { number: 9 }, of: { number: 3 } })
  expect(added).toMatchObject([{ artifact_sha256: 'a', rolled_back_from: 3 }])
})

it('P-2: no call changes the deployment of GRAPHS', async () => {
  const store = { get: async () => undefined, revision: async () => undefined } as unknown as DeploymentStore
  const deployment = { id: 's', workspace_id: 'w', name: 'mine', managed_by: 'server' } as StoredDeployment
  const revision = { id: 'r', number: 1 } as Revision
  const plane = createControlPlane({
    store: withServerDeployment(store, { deployment, revision }),
  } as ControlPlaneOptions)
  const change = {
    type: undefined,
    source_path: undefined,
    config_path: '',
    commands: {},
    secrets: undefined,
  }
  const calls = [
    () => plane.update(DEPLOYER, 's', change),
    () => plane.remove('w', 's'),
    () => plane.allowUpload('w', 's'),
    () => plane.redeploy(DEPLOYER, 's', 'r'),
    () => plane.interrupt('w', 's', 'r'),
  ]
  for (const call of calls)
    await expect(call()).rejects.toMatchObject({ code: 'deployment_managed_by_server' })
  await expect(plane.interrupt('other', 's', 'r')).rejects.toMatchObject({ code: 'not_found' })
})
