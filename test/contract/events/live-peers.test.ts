import { afterEach, describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { createLiveFeed, type LiveFeed } from '../../../src/ingest/live/live-feed.ts'
import type { RunChange } from '../../../src/ingest/live/run-changes.ts'
import { createPostgresLivePeers } from '../../../src/storage/sql/driver/postgres/live-peers.ts'
import { openPostgres } from '../../../src/storage/sql/driver/postgres.ts'
import { eventually } from '../../support/eventually.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`two servers of one Postgres${reason}`, () => {
  const databases = postgresDatabases()
  const stops: (() => Promise<unknown> | void)[] = []
  afterEach(async () => {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop()
  })

  it('notify each other of changes, also of many at once, and not themselves', async () => {
    const url = await databases.take()
    stops.push(() => databases.giveBack(url))
    const logger = createLogger({ level: 'silent' })
    const start = (): { feed: LiveFeed; heard: string[]; state: { missed: number } } => {
      const database = openPostgres(url)
      stops.push(() => database.close())
      const feed = createLiveFeed(createPostgresLivePeers({ url, database, logger }))
      stops.push(() => feed.close())
      const heard: string[] = []
      const state = { missed: 0 }
      feed.listen('w1', {
        changed: ({ run_id }) => void heard.push(run_id),
        more: (project_id) => void (project_id === undefined ? state.missed++ : heard.push(project_id)),
      })
      return { feed, heard, state }
    }
    const [a, b] = [start(), start()]
    await eventually(async () => expect([a.state.missed, b.state.missed]).toEqual([1, 1]))
    const runs = Array.from(
      { length: 600 },
      (_, at): RunChange => ({
        workspace_id: 'w1',
        project_id: 'p1',
        trace_id: 't1',
        run_id: `r${at}`,
        version: 1,
        is_root: true,
        status: 'success',
      }),
    )
    a.feed.publish({ runs, more_in: [] })
    await eventually(async () => expect(b.heard).toHaveLength(501))
    expect(new Set(b.heard)).toEqual(new Set([...runs.slice(0, 500).map(({ run_id }) => run_id), 'p1']))
    expect(a.heard).toHaveLength(600)
  })
})
