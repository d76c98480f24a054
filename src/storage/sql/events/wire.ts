import { chunksOf } from '../../../base/chunks.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Logger } from '../../../base/log.ts'
import type { LogChange } from '../../../events/event-store.ts'
import type { EventWire } from './event-store.ts'
import { listenAlways } from '../driver/postgres/listen.ts'

const CHANNEL = 'weir_events'
/**
 * Maximum number of threads in a payload: Postgres allows less than 8000 bytes, and the ids of a thread take at most
 * 120.
 */
const MAX_THREADS = 60

/** A notification: the sender's id, the kind of change, and the changed threads (thread, deployment, workspace). */
interface Payload {
  from: string
  kind: 'appended' | 'dropped'
  threads: [string, string, string][]
}

/**
 * Notifies the processes of one Postgres database of changed logs, with LISTEN and NOTIFY. Each notification is part of
 * the transaction of the change, so that it is sent if and only if the change is committed.
 */
export function createEventWire({ url, logger }: { url: string; logger: Logger }): EventWire {
  const me = newUuid()
  const closed = new AbortController()
  let notify: (change: LogChange) => void = () => undefined
  const receive = (text: string): void => {
    const { from, kind, threads } = JSON.parse(text) as Payload
    if (from === me) return
    for (const [thread_id, deployment_id, workspace_id] of threads)
      notify({ kind, thread: { thread_id, deployment_id, workspace_id } })
  }
  const listening = listenAlways({
    url,
    channel: CHANNEL,
    application_name: 'weir-events',
    receive,
    missed: () => notify({ kind: 'missed' }),
    closed: closed.signal,
    logger,
  })
  return {
    notify(session, kind, threads) {
      const named = new Map(
        threads.map(({ thread_id, deployment_id, workspace_id }) => [
          `${thread_id} ${deployment_id}`,
          [thread_id, deployment_id, workspace_id] satisfies Payload['threads'][number],
        ]),
      )
      for (const some of chunksOf([...named.values()], MAX_THREADS)) {
        const payload: Payload = { from: me, kind, threads: some }
        session.send(`SELECT pg_notify('${CHANNEL}', ?)`, [JSON.stringify(payload)])
      }
    },
    listen(listener) {
      notify = listener
    },
    async close() {
      closed.abort()
      await listening
    },
  }
}
