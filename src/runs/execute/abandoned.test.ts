import { expect, it } from 'vitest'
import { openMemoryRunState, openRunWorld } from '../../../test/support/runs/world.ts'
import { admissionOf } from '../../../test/support/runs/run-store.ts'
import { newUuid } from '../../base/ids.ts'
import { RUN_VERSION } from '../state.ts'
import { eventually } from '../../../test/support/eventually.ts'

it('a run that needs a later release than any server has ends with an error, and its graph is not started', async () => {
  const state = await openMemoryRunState()
  const tenant = { workspace_id: newUuid(), deployment_id: newUuid() }
  const { run } = admissionOf(newUuid())
  // It was due ten minutes ago.
  await state.store.admit(tenant, admissionOf(run.thread_id, { run, delay_ms: -600_000 }))
  const newer = { owner: 'newer', lease_ms: 1000, traced: false, version: RUN_VERSION + 1 }
  const [lease] = await state.store.claim(newer, [tenant.deployment_id], 1)
  if (lease === undefined) throw new Error('not claimed')
  await state.store.release(lease, { error: 'HostLost', message: 'gone' }, 3)

  const world = await openRunWorld({ state, tenant, abandonedAbove: () => RUN_VERSION })
  await eventually(async () =>
    expect(await state.store.getRun(tenant, null, run.run_id)).toMatchObject({
      status: 'error',
      error: { error: 'NewerReleaseNeeded' },
    }),
  )
  expect(world.fake.jobs).toEqual([])
})
