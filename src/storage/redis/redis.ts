import { createHash } from 'node:crypto'
import { Redis } from 'ioredis'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'

/**
 * The commands of a Redis server that Weir uses. Every call throws AppError store_unavailable if the server does not
 * execute it.
 */
export interface RedisConnection {
  /** Runs a script; loads it first if the server does not have it. */
  run<T>(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<T>
  command(name: string, ...args: (string | number)[]): Promise<unknown>
  /** The mode of the server, `redis_mode` of INFO. */
  mode(): Promise<'standalone' | 'cluster' | 'sentinel' | undefined>
  /**
   * Subscribes to a channel on a connection of its own. `missed` is called after each connect, since earlier messages
   * may be lost, and for messages that `receive` cannot read, since any client may publish there.
   */
  subscribe(channel: string, receive: (message: string) => void, missed: () => void): void
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 5_000
const COMMAND_TIMEOUT_MS = 10_000
const MAX_RETRY_MS = 1_000
const RETRY_STEP_MS = 50

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

async function answered<T>(work: () => Promise<unknown>): Promise<T> {
  try {
    return (await work()) as T
  } catch (error) {
    // A server that is loading, full or no longer the primary answers, but executes nothing.
    throw new AppError('store_unavailable', { cause: error })
  }
}

/** Opens connections to the server at `url` (`redis://` or `rediss://`); lost ones are opened again. */
export function openRedis(url: string, logger: Logger): RedisConnection {
  const options = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A command without an answer is not sent again: it may have been executed.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times: number) => Math.min(times * RETRY_STEP_MS, MAX_RETRY_MS),
  }
  const client = new Redis(url, { ...options, commandTimeout: COMMAND_TIMEOUT_MS })
  const others: Redis[] = []
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
    run: (script, keys, args) =>
      answered(async () => {
        try {
          return await client.evalsha(hashOf(script), keys.length, ...keys, ...args)
        } catch (error) {
          if (!isUnknownScript(error)) throw error
          return await client.eval(script, keys.length, ...keys, ...args)
        }
      }),
    command: (name, ...args) => answered(() => client.call(name, ...args)),
    async mode() {
      const info = String(await answered(() => client.call('INFO', 'server')))
      return /^redis_mode:(standalone|cluster|sentinel)\r?$/m.exec(info)?.[1] as 'standalone' | undefined
    },
    subscribe(channel, receive, missed) {
      const listener = new Redis(url, { ...options, maxRetriesPerRequest: null, autoResubscribe: false })
      others.push(listener)
      listener.on('error', () => undefined)
      listener.on('message', (_channel, message: string) => {
        try {
          receive(message)
        } catch {
          missed()
        }
      })
      listener.on('ready', () => {
        listener.subscribe(channel).then(missed, () => undefined)
      })
    },
    async close() {
      for (const one of [client, ...others]) one.disconnect()
    },
  }
}
