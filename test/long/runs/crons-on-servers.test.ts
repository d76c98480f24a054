import { describe, expect, it, onTestFinished } from 'vitest'
import type { Cron } from '../../../src/runs/crons/store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { openRunDatabase } from '../../../src/storage/sql/driver/open-run-database.ts'
import { campaign } from '../../support/campaign.ts'
import { eventually } from '../../support/eventually.ts'
import { type RunServer, startRunServer } from '../../support/runs/server.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { newFolder } from '../../support/folder.ts'

const SERVERS = 4
const CRONS = 1_000
/** Time until the date of a round, in which all servers set their timers. */
const AHEAD_MS = 2_000
/** The runs wait, so that the servers do nothing but create them. */
const REQUEST = { schedule: '0 0 1 1 *', payload: { assistant_id: 'beats', after_seconds: 86_400 } }
const ROUNDS_MS = 600_000

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`crons on ${SERVERS} servers that share a Postgres${reason}`, () => {
  const databases = postgresDatabases()

  /** Starts a server with a folder of its own; both are gone after the test. */
  async function start(url: string): Promise<RunServer> {
    const folder = await newFolder()
    const server = await startRunServer(folder, { DATABASE_URL: url })
    onTestFinished(async () => {
      await server.kill()
    })
    return server
  }

  async function openWorld(): Promise<{ url: string; database: Database; servers: RunServer[] }> {
    const url = await databases.take()
    onTestFinished(() => databases.giveBack(url))
    const servers = [await start(url)]
    while (servers.length < SERVERS) servers.push(await start(url))
    const database = await openRunDatabase({ url, file: '' })
    onTestFinished(() => database.close())
    const [first] = servers
    for (let n = 0; n < CRONS; n++) await first?.ask<Cron>('crons', 'create', null, REQUEST)
    return { url, database, servers }
  }

  /** Makes all crons due at one time, at which the timers of all servers run out. */
  async function makeDue(database: Database, servers: readonly RunServer[]): Promise<number> {
    const date = Date.now() + AHEAD_MS
    await database.query('UPDATE crons SET next_run_date = ? WHERE enabled = 1', [date])
    // A server looks for its next date when a cron is made.
    for (const server of servers) await server.ask('crons', 'create', null, { ...REQUEST, enabled: false })
    return date
  }

  /** Runs of each cron, in ascending order, once no cron is due. */
  async function runsOfEach(database: Database, date: number): Promise<number[]> {
    await eventually(async () => {
      const due = await database.query('SELECT cron_id FROM crons WHERE next_run_date <= ? LIMIT 1', [date])
      expect(due).toEqual([])
    }, 120_000)
    const runs = await database.query<{ metadata: string }>('SELECT metadata FROM runs')
    const counts = new Map<string, number>()
    for (const { metadata } of runs) {
      const { cron_id } = JSON.parse(metadata) as { cron_id: string }
      counts.set(cron_id, (counts.get(cron_id) ?? 0) + 1)
    }
    await database.query('DELETE FROM runs')
    await database.query('DELETE FROM threads')
    return [...counts.values()].sort((a, b) => a - b)
  }

  const once = Array<number>(CRONS).fill(1)

  // 1,000 runs a round on two cores.
  it(
    `RUN-31 that are due in the same second have one run for each date, ${campaign(20)} times`,
    async () => {
      const { database, servers } = await openWorld()
      for (let round = 0; round < campaign(20, 2); round++) {
        const date = await makeDue(database, servers)
        expect(await runsOfEach(database, date)).toEqual(once)
      }
    },
    ROUNDS_MS,
  )

  // As above, and a server starts in each round.
  it(
    `RUN-31 have one run for each date when a server is killed at it, ${campaign(20)} times`,
    async () => {
      const { url, database, servers } = await openWorld()
      for (let round = 0; round < campaign(20, 2); round++) {
        const date = await makeDue(database, servers)
        await eventually(async () =>
          expect(await database.query('SELECT run_id FROM runs LIMIT 1')).toHaveLength(1),
        )
        await servers.shift()?.kill()
        expect(await runsOfEach(database, date)).toEqual(once)
        servers.push(await start(url))
      }
    },
    ROUNDS_MS,
  )
})
