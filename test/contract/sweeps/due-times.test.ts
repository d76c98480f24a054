import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createArtifacts } from '../../../src/deploy/artifacts.ts'
import { NO_COMMANDS, type RevisionLease } from '../../../src/deploy/model.ts'
import { createLiveStreams } from '../../../src/http/platform/reply/live-streams.ts'
import { createDeploymentFeed } from '../../../src/ingest/live/deployment-feed.ts'
import { createLiveFeed } from '../../../src/ingest/live/live-feed.ts'
import { type CronsDeps, startCrons } from '../../../src/runs/crons/crons.ts'
import { createLeaseWatch } from '../../../src/runs/execute/lease-watch.ts'
import type { Call } from '../../../src/runs/runs.ts'
import { createFileBlobStore } from '../../../src/storage/files/blob-store.ts'
import { createDeploymentStore } from '../../../src/storage/sql/deployments/deployment-store.ts'
import { createSharedFiles } from '../../../src/storage/sql/deployments/shared-files.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { startDatabaseClock } from '../../../src/storage/sql/driver/postgres/database-clock.ts'
import { createCronStore } from '../../../src/storage/sql/runs/cron-store.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { eventually } from '../../support/eventually.ts'
import { testClock } from '../../support/faults/test-clock.ts'
import { CLAIMER, started, TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { newFolder } from '../../support/folder.ts'

const SECOND = 1_000
const DAY = 24 * 3_600_000
const logger = createLogger({ level: 'silent' })

/** The clock that a server has on this database: the system's, or that of Postgres. */
async function clockOf(database: Database): Promise<Clock> {
  const stops = new AsyncDisposableStack()
  onTestFinished(() => stops.disposeAsync())
  return await startDatabaseClock(database, { logger, stops })
}

describeOnSql('with the clock of a server, of runs', (engine) => {
  let database: Database
  beforeEach(async () => {
    database = await engine.openRuns()
  })

  it('RUN-31: a cron fires at each of its dates, and once for those that it has missed', async () => {
    const clock = await clockOf(database)
    const yesterday: Clock = { ...clock, now: () => clock.now() - DAY }
    const store = createCronStore(database, clock)
    const call: Call = { tenant: TENANT, caller: { user_id: null, api_key_id: 'key' }, headers: {} }
    const request = { schedule: '* * * * * *', payload: { assistant_id: 'agent' } }
    /** When a run was created and the date of which it is, epoch milliseconds. */
    const fired: { at: number; due_at: number }[] = []
    const deps = {
      store,
      runsOf: () => ({
        async create({ tenant, cron }: Call) {
          const { cron_id = '', due_at = 0, next = null } = cron ?? {}
          const found = await store.get(tenant, cron_id)
          if (found !== undefined && (await store.advance({ ...tenant, cron: found }, next)))
            fired.push({ at: clock.now(), due_at })
        },
      }),
      findAssistant: async () => ({ assistant_id: 'a', graph_id: 'agent' }),
      deployments: [TENANT.deployment_id],
      clock,
      logger,
    } as unknown as CronsDeps
    const before = startCrons({ ...deps, clock: yesterday, deployments: [] })
    await before.create(call, null, request)
    await before.stop()
    const crons = startCrons(deps)
    await eventually(async () => expect(fired.length).toBeGreaterThanOrEqual(3))
    await crons.stop()
    const [missed, ...dates] = fired
    expect(clock.now() - (missed?.due_at ?? 0)).toBeGreaterThan(DAY - 60 * SECOND)
    expect(new Set(dates.map(({ due_at }) => due_at)).size).toBe(dates.length)
    for (const { at, due_at } of dates) expect([due_at % SECOND, at >= due_at]).toEqual([0, true])
  })

  it('D-4: a run goes back to the queue when its lease is no longer renewed, and not before', async () => {
    const clock = await clockOf(database)
    const store = createRunStore(database, clock)
    const held = await started(store, randomUUID())
    const lost = await started(store, randomUUID())
    // Servers that share a database find ended leases by their own monotonic clocks.
    const watch = createLeaseWatch(SECOND)
    const recovered = async (by?: typeof watch) =>
      await eventually(async () => {
        const found = await store.recover('', 3, by)
        expect(found).not.toEqual([])
        return found
      })
    const renewals = setInterval(() => void store.renew([held], CLAIMER.lease_ms), SECOND / 10)
    onTestFinished(() => clearInterval(renewals))
    expect(await recovered(watch)).toMatchObject([{ run_id: lost.run_id, status: 'pending' }])
    clearInterval(renewals)
    // The only server of a database finds them by the time of day.
    await store.renew([held], 1)
    expect(await recovered()).toMatchObject([{ run_id: held.run_id, status: 'pending' }])
    expect(await store.claim(CLAIMER, [TENANT.deployment_id], 10)).toHaveLength(2)
  })
})

describeOnSql('with the clock of a server, of deployments', (engine) => {
  let database: Database
  beforeEach(async () => {
    database = await engine.openPlatform()
  })

  it('P-5: a build goes back to the queue when its lease is no longer renewed, and not before', async () => {
    const store = createDeploymentStore(database, await clockOf(database))
    const building = async (lease_ms: number): Promise<RevisionLease> => {
      const { id } = await store.create({
        id: randomUUID(),
        organization_id: 'o',
        workspace_id: 'w',
        name: `bot-${lease_ms}`,
        type: 'dev',
        secrets: [],
        commands: NO_COMMANDS,
      })
      await store.addRevision(id, {
        source_path: 'sources/s',
        config_path: 'langgraph.json',
        commands: NO_COMMANDS,
        source_sha256: 'hash',
        artifact_sha256: null,
        created_by: 'key',
        rolled_back_from: null,
      })
      const claim = async (): Promise<RevisionLease> => {
        const lease = await store.claim({ lease_ms, builds: 2 })
        if (lease === undefined) throw new Error('nothing was claimed')
        return lease
      }
      await store.advance(await claim(), 'accepted', {})
      return await claim()
    }
    const held = await building(60 * SECOND)
    const lost = await building(20)
    expect([held, lost].map(({ revision }) => revision.status)).toEqual(['BUILDING', 'BUILDING'])
    const taken = await eventually(async () => {
      const found = await store.takeBack({ all: false })
      expect(found).not.toEqual([])
      return found
    })
    expect(taken).toMatchObject([{ id: lost.revision.id, status: 'AWAITING_BUILD' }])
    expect([await store.renew(lost, SECOND), await store.renew(held, SECOND)]).toEqual([false, true])
  })

  it('P-22: builds and sources that nothing uses any more go, and new ones stay', async () => {
    const folder = await newFolder()
    const [now, file] = [systemClock.now(), join(folder, 'file')]
    await writeFile(file, 'source')
    const blobs = createFileBlobStore(join(folder, 'blobs'))
    const filesAt = (time: number) =>
      createSharedFiles(
        database,
        blobs,
        testClock(() => time),
      )
    await filesAt(now - 2 * DAY).put('d', 'sources/d/old', file, '')
    const files = filesAt(now)
    await files.put('d', 'sources/d/new', file, '')
    await files.sweep(systemClock.now() - DAY)
    expect([await files.has('d', 'sources/d/old'), await files.has('d', 'sources/d/new')]).toEqual([
      false,
      true,
    ])

    const sources = join(folder, 'sources/d')
    await mkdir(sources, { recursive: true })
    for (const name of ['old', 'new']) await writeFile(join(sources, name), 'source')
    await utimes(join(sources, 'old'), now / SECOND, (now - 2 * DAY) / SECOND)
    await createArtifacts(folder).prune('d', [], systemClock.now())
    expect(await readdir(sources)).toEqual(['new'])
  })
})

describe('with the clock of the system, a stream of changes', () => {
  it('ends after its time, so that its client authenticates again', async () => {
    const topics = { workspace_id: 'w', projects: new Set(['p']), traces: new Set<string>() }
    const feed = createLiveFeed(undefined)
    const streams = createLiveStreams({
      feed,
      deploymentFeed: createDeploymentFeed(),
      health: () => ({}),
      limits: { at_once: 1, at_once_per_key: 1 },
      interval_ms: 1,
      max_ms: 200,
    })
    const server = createServer((_request, response) => {
      const body = streams.body({ ...topics, ingest: false, deployments: false }, 'key')
      void body.writeTo(response).finally(() => {
        body.close()
        response.end()
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const begun = performance.now()
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect(await answer.text()).toBe('event: open\ndata: {}\n\n')
    expect(performance.now() - begun).toBeGreaterThan(190)
  })
})
