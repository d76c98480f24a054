import type { Configuration } from 'openid-client'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { ProviderSettings } from './provider-settings.ts'

const TIMEOUT_S = 10
/** Time for which a discovery document is used. */
const KNOWN_MS = 60 * 60_000
/** Time after a failure in which the provider is not asked again. */
const FAILED_MS = 5_000
/** Loaded by the first sign-in, because most servers have no provider. */
export const loadClient = () => import('openid-client')

/** Maximum bytes of a provider's response. */
const MAX_BYTES = 1024 * 1024

/** `fetch` for responses of providers, which are read up to a limit. @throws Error when a response is larger */
async function boundedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  if (response.body === null) return response
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body) {
    bytes += part.length
    if (bytes > MAX_BYTES) throw new Error(`The provider's answer is larger than ${MAX_BYTES} bytes.`)
    parts.push(part)
  }
  const { status, statusText, headers } = response
  return new Response(Buffer.concat(parts), { status, statusText, headers })
}

async function discover(settings: ProviderSettings): Promise<Configuration> {
  const client = await loadClient()
  const { issuer, client_id, client_secret } = settings
  const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
  const options = { execute, timeout: TIMEOUT_S, [client.customFetch]: boundedFetch as never }
  const found = await client.discovery(new URL(issuer), client_id, client_secret, undefined, options)
  const metadata = found.serverMetadata()
  if (metadata.issuer !== issuer)
    throw new Error(`The provider calls itself ${metadata.issuer}, and the setting has ${issuer}.`)
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const secretOf = methods.includes('client_secret_basic')
    ? client.ClientSecretBasic
    : client.ClientSecretPost
  const proof = client_secret === undefined ? client.None() : secretOf(client_secret)
  const configuration = new client.Configuration(metadata, client_id, client_secret, proof)
  configuration.timeout = TIMEOUT_S
  configuration[client.customFetch] = boundedFetch as never
  for (const extension of [...execute, client.enableNonRepudiationChecks]) extension(configuration)
  return configuration
}

/** Reads the discovery document when it is needed, and again after an hour; an old one is better than none. */
export function createDiscovery(
  settings: ProviderSettings,
  { clock, logger }: { clock: Clock; logger: Logger },
) {
  let known: { configuration: Configuration; until: number } | undefined
  let failed: { error: unknown; until: number } | undefined
  let underWay: Promise<Configuration> | undefined
  const read = async (): Promise<Configuration> => {
    try {
      const configuration = await discover(settings)
      known = { configuration, until: clock.steady() + KNOWN_MS }
      failed = undefined
      return configuration
    } catch (error) {
      failed = { error, until: clock.steady() + FAILED_MS }
      const reason = reasonOf(error)
      logger.warn(
        { provider: settings.id, issuer: settings.issuer, reason },
        'the sign-in provider cannot be used',
      )
      if (known === undefined) throw error
      return known.configuration
    }
  }
  return async (): Promise<Configuration> => {
    const now = clock.steady()
    if (known !== undefined && now < known.until) return known.configuration
    if (failed !== undefined && now < failed.until) {
      if (known === undefined) throw failed.error
      return known.configuration
    }
    underWay ??= read().finally(() => (underWay = undefined))
    return await underWay
  }
}

/** The messages of an error and of its causes, for the log. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${reasonOf(error.cause)}` : error.message
}
