import { expect, it, onTestFinished, vi } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { RUN_VERSION } from '../../runs/state.ts'
import { GRAPHS_KEPT_MS } from '../../storage/sql/server-registry.ts'
import { watchNewerRuns } from './newer-runs.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { NOW, testClock } from '../../../test/support/faults/test-clock.ts'

/**
 * A server whose stores have waiting runs. They need the versions `waiting`. The newest other server, if there is one,
 * has version `others`.
 */
function server({ isAlone = false } = {}) {
  const world = { now: NOW, waiting: [RUN_VERSION + 1], others: RUN_VERSION, looks: 0 }
  const stops = new AsyncDisposableStack()
  onTestFinished(() => stops.disposeAsync())
  const logger = createLogger({ level: 'silent' })
  const changed = vi.fn<() => void>()
  const warn = vi.spyOn(logger, 'warn')
  const above = watchNewerRuns({
    store: {
      async waitingVersions() {
        world.looks++
        return world.waiting
      },
    },
    servers: isAlone ? undefined : { runVersion: async () => world.others },
    clock: testClock(() => world.now),
    logger,
    changed,
    stops,
    everyMs: 1,
  })
  /** Resolves when a check that began after the call has ended. */
  const looked = async (): Promise<void> => {
    const wanted = world.looks + 3
    await eventually(async () => expect(world.looks).toBeGreaterThanOrEqual(wanted))
  }
  return { world, above, warn, changed, looked }
}

it('runs of an unknown version are logged once, and given up after ten minutes', async () => {
  const { world, above, warn, changed, looked } = server()
  await looked()
  world.now += GRAPHS_KEPT_MS - 1
  await looked()
  expect(above()).toBeUndefined()
  expect(changed).not.toHaveBeenCalled()
  expect(warn.mock.calls.map(([facts]) => facts)).toEqual([
    { needs_version: RUN_VERSION + 1, run_version: RUN_VERSION },
  ])
  world.now += 1
  await eventually(async () => expect(above()).toBe(RUN_VERSION))
  // Calls `changed` after each further check too, because more runs may have waited long enough by then.
  await looked()
  expect(changed.mock.calls.length).toBeGreaterThan(1)
  world.waiting = []
  await eventually(async () => expect(above()).toBeUndefined())
})

it('runs of a version that another server has are left to it', async () => {
  const { world, above, warn, looked } = server()
  await looked()
  world.others = RUN_VERSION + 1
  await looked()
  world.now += GRAPHS_KEPT_MS
  await looked()
  expect(above()).toBeUndefined()
  expect(warn).toHaveBeenCalledTimes(1)
})

it('without other servers, the look that finds no such run is the last one', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { world } = server({ isAlone: true })
  await vi.advanceTimersByTimeAsync(5)
  expect(world.looks).toBe(5)
  world.waiting = []
  await vi.advanceTimersByTimeAsync(5)
  expect(world.looks).toBe(6)
})
