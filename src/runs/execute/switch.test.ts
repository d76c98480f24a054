import { expect, it } from 'vitest'
import { createFakeGraphHost, doneWith } from '../../../test/support/runs/hosts/fake-graph-host.ts'
import { openRunWorld, type RunWorld, staying } from '../../../test/support/runs/world.ts'
import { createDeploymentUse, type Deployment } from '../deployment.ts'

const FIRST = '11111111-1111-4111-8111-111111111111'
const STAYING = { gone: staying(), cancel_on_disconnect: false }
const SECOND = '22222222-2222-4222-8222-222222222222'

/** Opens a world whose deployment has the revision FIRST, with a function that switches the deployment to SECOND. */
async function openSwitch() {
  const use = createDeploymentUse()
  const world = await openRunWorld({ use })
  const { deployment_id } = world.call.tenant
  const known = world.deployments.get(deployment_id)
  if (known === undefined) throw new Error('the world has no deployment')
  const first: Deployment = { ...known, revision_id: FIRST }
  world.deployments.set(deployment_id, first)
  const next = createFakeGraphHost()
  const second: Deployment = { ...known, host: next.host, revision_id: SECOND }
  return { world, use, first, second, next, change: () => world.deployments.set(deployment_id, second) }
}

async function begin({ runs, call, thread }: RunWorld) {
  return runs.create(call, await thread(), { assistant_id: 'agent' })
}

it('P-33: a run ends on the revision that began it, and later runs begin on the new one', async () => {
  const { world, use, first, second, next, change } = await openSwitch()
  const before = await begin(world)
  const old = await world.fake.job(before.run_id)
  change()
  const after = await begin(world)
  const job = await next.job(after.run_id)
  const drained = use.ended(first, staying())
  expect([world.worker.running(first), world.worker.running(second)]).toEqual([1, 1])
  old.end(doneWith({}))
  await drained
  expect(world.worker.running(first)).toBe(0)
  job.end(doneWith({}))
  await world.runs.join(world.call, after.thread_id, after.run_id, STAYING)
  const revisionOf = async ({ run_id }: { run_id: string }) =>
    (await world.store.getRun(world.call.tenant, null, run_id))?.revision_id
  expect([await revisionOf(before), await revisionOf(after)]).toEqual([FIRST, SECOND])
})

it('P-33: a run taken from a replaced revision goes on as a further attempt on the new one', async () => {
  const { world, use, first, next, change } = await openSwitch()
  const run = await begin(world)
  await world.fake.job(run.run_id)
  change()
  world.worker.handBack(first)
  await use.ended(first, staying())
  const job = await next.job(run.run_id, 2)
  expect(await world.store.getRun(world.call.tenant, null, run.run_id)).toMatchObject({
    status: 'running',
    attempt: 2,
    revision_id: SECOND,
  })
  job.end(doneWith({}))
  await world.runs.join(world.call, run.thread_id, run.run_id, STAYING)
  expect(await world.store.getRun(world.call.tenant, null, run.run_id)).toMatchObject({
    status: 'success',
    attempt: 2,
  })
})

it('P-33: a run that waits is made for the revision that serves', async () => {
  const { world, change } = await openSwitch()
  change()
  const { runs, call, thread } = world
  const waiting = await runs.create(call, await thread(), { assistant_id: 'agent', after_seconds: 3600 })
  const created = await world.store.getRun(call.tenant, null, waiting.run_id)
  expect(created).toMatchObject({ status: 'pending', revision_id: SECOND })
})
