import { expect, it } from 'vitest'
import { settableClock } from '../../../test/support/faults/test-clock.ts'
import { createLogger } from '../../base/log.ts'
import { createKeepDays } from './keep-days.ts'

it('reads the retention of projects again after a while, and keeps the last one while it cannot', async () => {
  const clock = settableClock()
  let days: number | undefined = 3
  const keepDays = createKeepDays({
    deletions: {
      async expiring() {
        if (days === undefined) throw new Error('away')
        return [{ workspace_id: 'w', project_id: 'p', days }]
      },
    },
    clock,
    logger: createLogger({ level: 'silent' }),
  })
  const now = async (): Promise<number | undefined> => (await keepDays()).get('p')
  expect(await now()).toBe(3)
  days = 14
  expect(await now()).toBe(3)
  clock.time += 20_000
  expect(await now()).toBe(14)
  days = undefined
  clock.time += 20_000
  expect(await now()).toBe(14)
})
