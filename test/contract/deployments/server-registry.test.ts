import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { openPostgres } from '../../../src/storage/sql/driver/postgres.ts'
import { type AnnouncedServer, createServerRegistry } from '../../../src/storage/sql/server-registry.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'

const SERVER: AnnouncedServer = {
  instance_id: 'i',
  blobs: 'shared',
  settings: {},
  graphs: ['bot/agent'],
  run_version: 1,
}

describe.skipIf(withoutPostgres() !== '')(`P-37: servers of one database${withoutPostgres()}`, () => {
  const databases = postgresDatabases()
  let url: string
  let database: Database
  beforeEach(async () => {
    url = await databases.take()
    database = openPostgres(url)
    await migrate(database)
  })
  afterEach(async () => {
    await database.close()
    databases.giveBack(url)
  })

  it('count the others that live, also while they are not in the list themselves', async () => {
    const [a, b] = [createServerRegistry(database), createServerRegistry(database)]
    expect(await a.announce(SERVER)).toEqual([])
    expect([await a.others(), await b.others()]).toEqual([0, 1])
    await b.announce(SERVER)
    expect([await a.others(), await b.others()]).toEqual([1, 1])
    await a.withdraw()
    expect([await a.others(), await b.others()]).toEqual([1, 0])
  })

  it('count those that have run lately, one that was restarted twice', async () => {
    const [a, b] = [createServerRegistry(database), createServerRegistry(database)]
    await a.announce(SERVER)
    await a.withdraw()
    await b.announce(SERVER)
    expect(await createServerRegistry(database).recent(60_000)).toBe(2)
    await database.query('UPDATE servers SET seen_at = seen_at - 70000')
    expect(await b.recent(60_000)).toBe(1)
    await database.query('UPDATE servers SET seen_at = seen_at - 30000')
    expect(await b.recent(60_000)).toBe(0)
  })

  it('know the graphs of all of them', async () => {
    const registry = createServerRegistry(database)
    await registry.announce(SERVER)
    await registry.withdraw()
    expect(await createServerRegistry(database).graphs()).toEqual(new Set(['bot/agent']))
  })
})
