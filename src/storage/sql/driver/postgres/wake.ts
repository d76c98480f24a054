import { newUuid } from '../../../../base/ids.ts'
import type { Logger } from '../../../../base/log.ts'
import type { Wake, WakeMessage } from '../../../../runs/execute/wake.ts'
import type { Database } from '../database.ts'
import { listenAlways } from './listen.ts'

export interface PostgresWakeOptions {
  /** URL of the database on which the processes listen. */
  url: string
  /** The same database; its pool of connections sends the notifications. */
  database: Database
  logger: Logger
  /** Milliseconds before a lost connection is opened again; default 250. */
  retryMs?: number
}

const CHANNEL = 'weir_runs'
/** Maximum bytes of a payload; Postgres allows less than 8000, and one message has at most some hundred. */
const MAX_PAYLOAD = 7_000

/** A notification: the sender's id and its messages. */
interface Envelope {
  from: string
  messages: WakeMessage[]
}

/** Packs messages into as few payloads as possible; `work` is sent once. */
function toPayloads(from: string, messages: readonly WakeMessage[]): string[] {
  const payloads: string[] = []
  let current: WakeMessage[] = []
  let size = 0
  const flush = (): void => {
    if (current.length > 0) payloads.push(JSON.stringify({ from, messages: current } satisfies Envelope))
    current = []
    size = 0
  }
  let hasWork = false
  for (const message of messages) {
    if (message.kind === 'work' && hasWork) continue
    hasWork ||= message.kind === 'work'
    const length = JSON.stringify(message).length + 1
    if (size + length > MAX_PAYLOAD) flush()
    current.push(message)
    size += length
  }
  flush()
  return payloads
}

/**
 * Notifies the processes of one Postgres database with LISTEN and NOTIFY. Messages of one turn of the event loop are
 * sent together. After a lost connection the listener's `missed` is called.
 */
export function createPostgresWake(options: PostgresWakeOptions): Wake {
  const { url, logger, retryMs } = options
  const me = newUuid()
  const closed = new AbortController()
  let deliver: (message: WakeMessage) => void = () => undefined
  const sender = createSender(options, me)
  const receive = (payload: string): void => {
    const { from, messages } = JSON.parse(payload) as Envelope
    if (from !== me) for (const message of messages) deliver(message)
  }
  const missed = (): void => deliver({ kind: 'missed' })
  const listening = listenAlways({
    url,
    channel: CHANNEL,
    application_name: 'weir-wake',
    receive,
    missed,
    closed: closed.signal,
    logger,
    ...(retryMs !== undefined && { retryMs }),
  })
  return {
    shared: true,
    send: sender.send,
    listen(listener) {
      deliver = listener
    },
    async close() {
      await sender.sent()
      closed.abort()
      await listening
    },
  }
}

/** Sends the collected messages, one payload after the other. */
function createSender({ database, logger }: PostgresWakeOptions, me: string) {
  let waiting: WakeMessage[] = []
  let sending: Promise<void> | undefined

  async function sendAll(): Promise<void> {
    await Promise.resolve()
    while (waiting.length > 0) {
      const payloads = toPayloads(me, waiting)
      waiting = []
      for (const payload of payloads) await database.query(`SELECT pg_notify('${CHANNEL}', ?)`, [payload])
    }
  }

  return {
    send(message: WakeMessage): void {
      waiting.push(message)
      sending ??= sendAll()
        .catch((error: unknown) => logger.warn({ err: error }, 'other processes could not be notified'))
        .finally(() => {
          sending = undefined
        })
    },
    sent: async (): Promise<void> => sending,
  }
}
