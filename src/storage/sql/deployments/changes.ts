import { newUuid } from '../../../base/ids.ts'
import type { Logger } from '../../../base/log.ts'
import type { DeploymentChanges } from '../../../deploy/stores/shared-files.ts'
import type { Database } from '../driver/database.ts'
import { listenAlways } from '../driver/postgres/listen.ts'

const CHANNEL = 'weir_deployments'

/** Notifies the servers of one Postgres database of changes of deployments, with LISTEN and NOTIFY. */
export function createPostgresChanges({
  url,
  database,
  logger,
}: {
  url: string
  /** The same database; its pool of connections sends the notifications. */
  database: Database
  logger: Logger
}): DeploymentChanges {
  const me = newUuid()
  const closed = new AbortController()
  let listening: Promise<void> | undefined
  let sending: Promise<unknown> | undefined
  return {
    announce() {
      // Several changes in one turn of the event loop cause one notification.
      sending ??= Promise.resolve()
        .then(() => {
          sending = undefined
          return database.query(`SELECT pg_notify('${CHANNEL}', ?)`, [me])
        })
        .catch((error: unknown) => logger.warn({ err: error }, 'a change of deployments was not announced'))
    },
    listen(changed) {
      listening = listenAlways({
        url,
        channel: CHANNEL,
        application_name: 'weir-deployments',
        logger,
        receive: (from) => (from === me ? undefined : changed()),
        missed: changed,
        closed: closed.signal,
      })
    },
    async close() {
      await sending
      closed.abort()
      await listening
    },
  }
}
