/** A Redis whose primary is found by asking Redis Sentinels. */
export interface SentinelAddress {
  sentinels: { host: string; port: number }[]
  /** The name of the primary in the settings of the Sentinels. */
  name: string
  database: number
  username: string | undefined
  password: string | undefined
  /** User and password for the Sentinels, not for Redis. */
  sentinelUsername: string | undefined
  sentinelPassword: string | undefined
  isEncrypted: boolean
}

const SENTINEL_PORT = 26_379
const MAX_PORT = 65_535
const SENTINEL_URL = /^redis(s?)\+sentinel:\/\/(?:([^/?#]*)@)?([^/?#@]+)\/([^/?#]+)(\/\d{1,4})?\/?(\?.*)?$/
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i

/** Whether text is the address of a Redis server, or of Sentinels. */
export function isRedisAddress(text: string): boolean {
  return /^rediss?:\/\//.test(text) ? URL.canParse(text) : parseSentinels(text) !== undefined
}

/**
 * Parses `redis+sentinel://user:password@host:port,host:port/name/database`, with `?sentinel_username=` and
 * `&sentinel_password=`; `rediss+sentinel` means TLS. Undefined for other text.
 */
export function parseSentinels(text: string): SentinelAddress | undefined {
  const match = SENTINEL_URL.exec(text)
  if (match === null) return undefined
  const [, tls, credentials = '', hosts = '', name = '', database = '/0', query = ''] = match
  const sentinels = hosts.split(',').map(parseHost)
  const [username = '', ...password] = credentials.split(':')
  const queries = new URLSearchParams(query)
  if (sentinels.includes(undefined)) return undefined
  try {
    return {
      sentinels: sentinels.filter((one) => one !== undefined),
      name: decodeURIComponent(name),
      database: Number(database.slice(1)),
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password.join(':')) || undefined,
      sentinelUsername: queries.get('sentinel_username') ?? undefined,
      sentinelPassword: queries.get('sentinel_password') ?? undefined,
      isEncrypted: tls !== '',
    }
  } catch {
    return undefined
  }
}

function parseHost(text: string): SentinelAddress['sentinels'][number] | undefined {
  const match = HOST.exec(text)
  const port = Number(match?.[1] ?? SENTINEL_PORT)
  if (match === null || port === 0 || port > MAX_PORT) return undefined
  return { host: text.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''), port }
}
