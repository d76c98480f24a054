import { createHash } from 'node:crypto'
import { Redis, type RedisOptions } from 'ioredis'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { pause } from '../../base/pause.ts'
import { parseSentinels } from '../../base/text/redis-address.ts'
import { assertWholeNumber } from '../whole-number.ts'

/**
 * The commands of a Redis server that Weir uses. Every call throws AppError store_unavailable if the server does not
 * execute it.
 */
export interface RedisConnection {
  /** Runs a script; loads it first if the server does not have it. */
  run<T>(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<T>
  command(name: string, ...args: (string | number)[]): Promise<unknown>
  /** The mode of the server: field `redis_mode` of the answer to INFO. */
  mode(): Promise<'standalone' | 'cluster' | 'sentinel' | undefined>
  /**
   * Subscribes to a channel on a connection of its own. `missed` is called after each connect, since earlier messages
   * may be lost. It is also called for messages that `receive` cannot read, since any client may publish on the
   * channel.
   */
  subscribe(channel: string, receive: (message: string) => void, missed: () => void): void
  /**
   * Calls `listener` when the connection is ready: the first time, and after each reconnect. After a reconnect, the
   * server may have lost its last writes.
   */
  onConnect(listener: () => void): void
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 5_000
const COMMAND_TIMEOUT_MS = 10_000
const PING_MS = 5_000
const MAX_RETRY_MS = 1_000
const RETRY_STEP_MS = 50

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

function assertWholeArgs(args: readonly (string | number)[]): void {
  for (const [at, arg] of args.entries())
    if (typeof arg === 'number') assertWholeNumber(arg, `argument ${at + 1}`)
}

async function answered<T>(work: () => Promise<unknown>): Promise<T> {
  try {
    return (await work()) as T
  } catch (error) {
    // A server that is loading, full or no longer the primary answers with an error and does not execute the command.
    throw new AppError('store_unavailable', { cause: error })
  }
}

type Options = Omit<RedisOptions, 'replyMapping'>

const retryDelay = (times: number): number => Math.min(times * RETRY_STEP_MS, MAX_RETRY_MS)

/** Options to find the primary by its Sentinels; undefined for the address of one server. */
function sentinelOptions(url: string): Options | undefined {
  const address = parseSentinels(url)
  if (address === undefined) return undefined
  const { sentinels, name, database, username, password, sentinelUsername, sentinelPassword } = address
  return {
    sentinels,
    name,
    db: database,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(address.isEncrypted && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    // With its own retries, ioredis would queue all commands without a limit, including those that have timed out.
    sentinelRetryStrategy: () => null,
    // A Sentinel that demotes a primary closes the connections of its clients. If the Sentinel cannot reach the server,
    // the connections stay open, and the server refuses writes with READONLY. Then the client connects again and asks
    // the Sentinels for the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  }
}

/**
 * Opens the connection again after `stream` gave no answer. Does nothing if the client already has another stream,
 * which may work, or is just connecting.
 */
function reopen(client: Redis, stream: Redis['stream']): void {
  if (client.status === 'ready' && client.stream === stream) client.disconnect(true)
}

/** Connects again after ioredis has given up because no Sentinel answered. */
function keepTrying(client: Redis, closing: AbortSignal): void {
  client.on('end', () => {
    void pause(MAX_RETRY_MS, closing).then(() => {
      if (!closing.aborted) client.connect().catch(() => undefined)
    })
  })
}

/** Reconnects when a ping gets no answer. If the other machine has failed, no packet ends the connection. */
function reopenSilent(client: Redis): void {
  if (client.status !== 'ready') return
  const { stream } = client
  client.ping().catch((error: unknown) => {
    // An error from the server is an answer too. PING returns an error while Redis cannot write to its disk.
    const isAnswer = error instanceof Error && error.name === 'ReplyError'
    if (!isAnswer) reopen(client, stream)
  })
}

/** See `RedisConnection.subscribe`. */
function receiveOn(
  listener: Redis,
  channel: string,
  receive: (message: string) => void,
  missed: () => void,
): void {
  listener.on('error', () => undefined)
  listener.on('message', (_channel, message: string) => {
    try {
      receive(message)
    } catch {
      missed()
    }
  })
  listener.on('ready', () => {
    const { stream } = listener
    listener.subscribe(channel).then(missed, () => reopen(listener, stream))
  })
}

/**
 * Opens connections to the server at `url` (`redis://`, `rediss://`, or with `+sentinel` to the primary that Sentinels
 * name). Lost connections are opened again.
 */
export function openRedis(url: string, logger: Logger): RedisConnection {
  const options = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A command without an answer is not sent again: it may have been executed.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: retryDelay,
  }
  const bySentinels = sentinelOptions(url)
  const closing = new AbortController()
  const open = (more: Options): Redis => {
    if (bySentinels === undefined) return new Redis(url, { ...options, ...more })
    const opened = new Redis({ ...options, ...bySentinels, ...more })
    keepTrying(opened, closing.signal)
    return opened
  }
  const client = open({})
  const all = [client]
  const pinging = setInterval(() => all.forEach(reopenSilent), PING_MS).unref()
  const hashes = new Map<string, string>()
  client.on('error', (error: unknown) => logger.warn({ err: error }, 'Redis does not answer now'))

  function hashOf(script: string): string {
    const known = hashes.get(script)
    if (known !== undefined) return known
    const hash = createHash('sha1').update(script).digest('hex')
    hashes.set(script, hash)
    return hash
  }

  return {
    async run<T>(script: string, keys: readonly string[], args: readonly (string | number)[]) {
      assertWholeArgs(args)
      return await answered<T>(async () => {
        try {
          return await client.evalsha(hashOf(script), keys.length, ...keys, ...args)
        } catch (error) {
          if (!isUnknownScript(error)) throw error
          return await client.eval(script, keys.length, ...keys, ...args)
        }
      })
    },
    async command(name, ...args) {
      assertWholeArgs(args)
      return await answered(() => client.call(name, ...args))
    },
    async mode() {
      const info = String(await answered(() => client.call('INFO', 'server')))
      return /^redis_mode:(standalone|cluster|sentinel)\r?$/m.exec(info)?.[1] as 'standalone' | undefined
    },
    subscribe(channel, receive, missed) {
      const listener = open({ maxRetriesPerRequest: null, autoResubscribe: false })
      all.push(listener)
      receiveOn(listener, channel, receive, missed)
    },
    onConnect: (listener) => void client.on('ready', listener),
    async close() {
      clearInterval(pinging)
      closing.abort()
      for (const one of all) one.disconnect()
    },
  }
}
