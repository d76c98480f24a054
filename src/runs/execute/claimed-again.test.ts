import { expect, it } from 'vitest'
import { openMemoryRunState, openRunWorld, staying } from '../../../test/support/runs/world.ts'
import { AppError } from '../../base/errors.ts'
import { createDeploymentUse } from '../deployment.ts'
import type { RunStore } from '../run-store.ts'
import type { GraphEnd } from './graph-host.ts'

const HOST_LOST: GraphEnd = {
  kind: 'lost',
  culprit: false,
  error: 'HostLost',
  message: 'gone',
  state: undefined,
}

/** A world with one run. `changed` replaces some functions of its store. */
async function openWith(changed: (store: RunStore) => Partial<RunStore>, lease_ms?: number) {
  const state = await openMemoryRunState()
  const store = Object.assign(Object.create(state.store) as RunStore, changed(state.store))
  const use = createDeploymentUse()
  const world = await openRunWorld({ use, state: { ...state, store }, ...(lease_ms && { lease_ms }) })
  const run = await world.runs.create(world.call, await world.thread(), { assistant_id: 'agent' })
  return { world, use, run_id: run.run_id, tenant: world.call.tenant }
}

it('RUN-14: a run that was given back without an answer, and claimed again, stays known to its worker', async () => {
  const { promise: stored, resolve: isStored } = Promise.withResolvers<void>()
  const { world, use, run_id, tenant } = await openWith((store) => ({
    async release(...args) {
      const end = await store.release(...args)
      if (end.kind === 'lost') return end
      isStored()
      throw new AppError('store_unavailable')
    },
  }))
  const first = await world.fake.job(run_id)
  const before = world.deployments.get(tenant.deployment_id)
  if (before === undefined) throw new Error('the world has no deployment')
  const after = { ...before }
  world.deployments.set(tenant.deployment_id, after)
  first.end(HOST_LOST)
  await stored
  const firstEnded = use.ended(before, staying())
  world.worker.look()
  const second = await world.fake.job(run_id, 2)
  await firstEnded
  expect(world.worker.running(after)).toBe(1)
  await world.worker.cancel(tenant, { status: 'all' }, 'interrupt')
  expect(second.signal.aborted).toBe(true)
})

it('RUN-14: a renewal that finds an earlier lease lost does not end the job that has claimed the run again', async () => {
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const again = Promise.withResolvers<void>()
  let renewals = 0
  const { world, run_id } = await openWith(
    (store) => ({
      async renew(...args) {
        renewals++
        if (renewals === 1) {
          asked.resolve()
          await gate.promise
        } else again.resolve()
        return await store.renew(...args)
      },
    }),
    30,
  )
  const first = await world.fake.job(run_id)
  await asked.promise
  first.end(HOST_LOST)
  const second = await world.fake.job(run_id, 2)
  gate.resolve()
  await again.promise
  expect([second.signal.aborted, second.ended]).toEqual([false, false])
})
