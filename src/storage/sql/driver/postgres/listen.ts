import { pause } from '../../../../base/pause.ts'
import type { Logger } from '../../../../base/log.ts'
import { nodePostgres } from './pg.ts'

export interface ChannelSubscription {
  url: string
  channel: string
  application_name: string
  receive(payload: string): void
  /**
   * Called after each connect, since earlier messages may be lost. Also called for messages that `receive` cannot read,
   * which servers of other versions may send.
   */
  missed(): void
  closed: AbortSignal
  logger: Logger
  /** Milliseconds before a lost connection is opened again; default 250. */
  retryMs?: number
}

const RETRY_MS = 250

/** Listens on a separate connection until `closed` aborts; opens it again when it is lost. */
export async function listenAlways(listening: ChannelSubscription): Promise<void> {
  const { closed: signal, logger, retryMs = RETRY_MS } = listening
  while (!signal.aborted) {
    await listenOnce(listening).catch((error: unknown) =>
      logger.warn({ err: error }, 'notifications of Postgres cannot be received now'),
    )
    await pause(retryMs, signal)
  }
}

/** Listens on one connection until it is lost. */
async function listenOnce(listening: ChannelSubscription): Promise<void> {
  const { url, channel, application_name, receive, missed, closed } = listening
  const { Client } = nodePostgres()
  const client = new Client({ connectionString: url, keepAlive: true, application_name })
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
