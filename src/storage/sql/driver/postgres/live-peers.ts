import { newUuid } from '../../../../base/ids.ts'
import type { Logger } from '../../../../base/log.ts'
import type { LivePeers } from '../../../../ingest/live/live-feed.ts'
import type { RunChange, RunChanges } from '../../../../ingest/live/run-changes.ts'
import type { Database } from '../database.ts'
import { listenAlways } from './listen.ts'

const CHANNEL = 'weir_live'
/** Maximum bytes of a payload; Postgres allows less than 8000. */
const MAX_PAYLOAD = 7_000

interface Envelope extends RunChanges {
  from: string
}

/** Packs changes into payloads; each payload has at least one change. */
function toPayloads(from: string, { runs, more_in }: RunChanges): string[] {
  const payloads: string[] = []
  let current: { runs: RunChange[]; more_in: string[] } = { runs: [], more_in: [] }
  let size = 0
  const flush = (): void => {
    if (size > 0) payloads.push(JSON.stringify({ from, ...current } satisfies Envelope))
    current = { runs: [], more_in: [] }
    size = 0
  }
  const place = (length: number): void => {
    if (size + length > MAX_PAYLOAD) flush()
    size += length
  }
  for (const run of runs) {
    place(JSON.stringify(run).length + 1)
    current.runs.push(run)
  }
  for (const project of more_in) {
    place(project.length + 3)
    current.more_in.push(project)
  }
  flush()
  return payloads
}

/**
 * Other servers of one Postgres database, notified with NOTIFY. Changes that cannot be sent are lost; the loss is
 * logged.
 */
export function createPostgresLivePeers({
  url,
  database,
  logger,
}: {
  /** URL of the database on which the servers listen. */
  url: string
  /** The same database; its pool of connections sends the notifications. */
  database: Database
  logger: Logger
}): LivePeers {
  const me = newUuid()
  const closed = new AbortController()
  let listening: Promise<void> | undefined
  let sending = Promise.resolve()

  const sendAll = async (changes: RunChanges): Promise<void> => {
    for (const payload of toPayloads(me, changes))
      await database.query(`SELECT pg_notify('${CHANNEL}', ?)`, [payload])
  }
  return {
    send(changes) {
      sending = sending
        .then(() => sendAll(changes))
        .catch((error: unknown) => logger.warn({ err: error }, 'could not announce changes to other servers'))
    },
    listen(deliver, missed) {
      const receive = (payload: string): void => {
        const { from, ...changes } = JSON.parse(payload) as Envelope
        if (from !== me) deliver(changes)
      }
      const application_name = 'weir-live'
      const subscription = { url, channel: CHANNEL, application_name, receive, missed, logger }
      listening = listenAlways({ ...subscription, closed: closed.signal })
    },
    async close() {
      await sending
      closed.abort()
      await listening
    },
  }
}
