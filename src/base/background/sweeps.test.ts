import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { aborted } from '../pause.ts'
import { createSweeps, type Sweep } from './sweeps.ts'
import { eventually } from '../../../test/support/eventually.ts'

function setUp() {
  const metrics = createMetrics()
  const sweeps = createSweeps({ logger: createLogger({ level: 'silent' }), metrics })
  const start = (sweep: Pick<Sweep, 'work'> & Partial<Sweep>) => {
    const started = sweeps.start({ name: 'items', everyMs: 1e6, ...sweep })
    onTestFinished(() => started.stop())
    return started
  }
  const failures = (): string | undefined =>
    /^weir_sweep_failures_total\{sweep="items"\} (\d+)$/m.exec(metrics.render())?.[1]
  return { sweeps, start, failures }
}

it('never sweeps twice at the same time, and a stop waits for the running sweep', async () => {
  let running = 0
  const sweep = setUp().start({
    async work(signal) {
      running++
      await aborted(signal)
      return running--
    },
  })
  const both = [sweep.now(), sweep.now()]
  expect(running).toBe(1)
  await sweep.stop()
  expect(running).toBe(0)
  expect(await Promise.all(both)).toEqual([1, 1])
})

it('sweeps when it may begin, and again after each interval, also after a failure', async () => {
  let count = 0
  const begins = Promise.withResolvers<void>()
  const { start, failures } = setUp()
  const work = async () => {
    count++
    throw new Error('no')
  }
  start({ begins: begins.promise, work })
  expect(count).toBe(0)
  begins.resolve()
  await eventually(async () => expect([count, failures()]).toEqual([1, '1']))
  start({ everyMs: 1, work })
  await eventually(async () => expect(count).toBeGreaterThan(3))
})

it('a sweep is failing after its third failure in a row, until it succeeds', async () => {
  const { sweeps, start, failures } = setUp()
  let isDown = true
  const sweep = start({
    async work() {
      if (isDown) throw new Error('no')
      return 7
    },
  })
  for (const failed of [1, 2]) {
    await expect(sweep.now()).rejects.toThrow('no')
    expect(failures()).toBe(String(failed))
    sweeps.assertWorking()
  }
  await expect(sweep.now()).rejects.toThrow('no')
  expect(() => sweeps.assertWorking()).toThrow(/items failed 3 times in a row/)
  isDown = false
  expect(await sweep.now()).toBe(7)
  sweeps.assertWorking()
  expect(failures()).toBe('3')
})
