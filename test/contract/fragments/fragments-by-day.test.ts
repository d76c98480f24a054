import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemRows } from '../../../src/storage/clickhouse/cluster/layout.ts'
import type { ClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { inLong } from '../../support/length.ts'
import { tries } from '../../support/properties.ts'
import { FragmentWorld, step } from '../../support/stores/clickhouse/fragment-world.ts'
import { migratedDatabase } from '../../support/stores/clickhouse/clickhouse-database.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let db: ClickHouse
let drop: () => Promise<void>
beforeAll(async () => {
  ;({ db, drop } = await migratedDatabase())
})
afterAll(() => drop())

let worlds = 0

it('reads return each fragment that is kept, and no other, whatever day it came on and wherever a deletion was killed', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
    const world = new FragmentWorld(db, worlds++)
    for (const each of steps) await each(world)
    await world.check()
  })
  // The store executes some dozen statements for each input.
  await fc.assert(property, tries(8, { longest: 4 }))
})

it('D-68: an expired day of a project is freed as a whole, without a statement that deletes fragments', async () => {
  const world = new FragmentWorld(db, worlds++)
  world.keep[0] = 2
  for (const n of [0, 2, 4]) await world.store({ run: n, text: 'a', late: 0, placed: true, before: false })
  const parts = async (): Promise<unknown[]> =>
    db.rows(
      `SELECT partition FROM ${systemRows('parts', 'fragments', db)} AND active AND partition LIKE {day:String}`,
      { params: { day: `(2,'${new Date(world.clock.time).toISOString().slice(0, 10)}')` } },
    )
  expect(await parts()).not.toEqual([])
  world.clock.time += 2 * DAY + HOUR
  await world.sweep(undefined)
  await world.check()
  const mutations = await db.rows(
    `SELECT command FROM ${systemRows('mutations', 'fragments', db)} AND command LIKE {id:String}`,
    { params: { id: `%${world.runs[0]}%` } },
  )
  expect(mutations).toEqual([])
  world.clock.time += DAY + HOUR
  await world.sweep(undefined)
  // `parts` looks for the day of the receipt.
  world.clock.time -= 3 * DAY + 2 * HOUR
  expect(await parts()).toEqual([])
  const places = await db.rows('SELECT 1 FROM fragment_places WHERE workspace_id = {workspace_id:UUID}', {
    params: { workspace_id: world.workspace_id },
  })
  expect(places).toEqual([])
})

inLong(() => {
  it('a day in which another project keeps its runs longer stays, without what has expired', async () => {
    const world = new FragmentWorld(db, worlds++)
    world.keep.splice(0, 2, 2, 2)
    for (const n of [0, 1]) await world.store({ run: n, text: 'a', late: 0, placed: true, before: false })
    world.keep[1] = 30
    world.clock.time += 4 * DAY
    await world.sweep(undefined)
    await world.check()
    const left = await db.rows<{ run_id: string }>(
      'SELECT run_id FROM fragments WHERE workspace_id = {workspace_id:UUID}',
      { params: { workspace_id: world.workspace_id } },
    )
    expect(left).toEqual([{ run_id: world.runs[1] }])
    world.clock.time += 30 * DAY
    await world.sweep(undefined)
    await world.check()
  })
})
