import { expect, it } from 'vitest'
import { migrate } from '../driver/migrate.ts'
import { openSqlite } from '../driver/sqlite.ts'
import { switchUsage } from './usage-switches.ts'

it('stores when counting was on', async () => {
  const database = openSqlite(':memory:')
  await migrate(database)
  const on = (is_on: boolean, at: number) => switchUsage(database, is_on, at)
  expect(await on(false, 5)).toEqual([])
  expect(await on(true, 10)).toEqual([{ from: 10, to: Number.POSITIVE_INFINITY }])
  expect(await on(true, 20)).toEqual([{ from: 10, to: Number.POSITIVE_INFINITY }])
  expect(await on(false, 30)).toEqual([{ from: 10, to: 30 }])
  // The clock was set back: 25 is before the last change.
  expect(await on(true, 25)).toEqual([
    { from: 10, to: 30 },
    { from: 31, to: Number.POSITIVE_INFINITY },
  ])
  await database.close()
})
