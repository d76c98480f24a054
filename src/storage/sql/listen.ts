import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../../base/log.ts'

/** What is listened to on a Postgres database, and who hears it. */
export interface Listening {
  url: string
  channel: string
  application_name: string
  receive(payload: string): void
  /**
   * What was sent before a connection stood is not known: called whenever one stands, and for what `receive` does not
   * understand, as other versions may speak there.
   */
  missed(): void
  closed: AbortSignal
  logger: Logger
  /** Milliseconds before a lost connection is opened again; default 250. */
  retryMs?: number
}

const RETRY_MS = 250

/** Listens until `closed`, on a connection of its own that is opened again when it is lost. */
export async function listenAlways(listening: Listening): Promise<void> {
  const { closed: signal, logger, retryMs = RETRY_MS } = listening
  while (!signal.aborted) {
    await listenOnce(listening).catch((error: unknown) =>
      logger.warn({ err: error }, 'cannot listen to Postgres now'),
    )
    if (!signal.aborted) await delay(retryMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Listens on one connection until it is lost. */
async function listenOnce(listening: Listening): Promise<void> {
  const { url, channel, application_name, receive, missed, closed } = listening
  const client = new pg.Client({ connectionString: url, keepAlive: true, application_name })
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>()
  const stop = (): void => lose()
  client.on('error', stop)
  client.on('end', stop)
  client.on('notification', ({ payload }) => {
    try {
      receive(payload ?? '')
    } catch {
      missed()
    }
  })
  closed.addEventListener('abort', stop)
  try {
    await client.connect()
    await client.query(`LISTEN ${channel}`)
    if (!closed.aborted) missed()
    await lost
  } finally {
    closed.removeEventListener('abort', stop)
    await client.end().catch(() => undefined)
  }
}
