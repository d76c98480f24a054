import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'

/** The webhooks that may be called, and their headers: `webhooks` and `http.disable_webhooks` of langgraph.json. */
export interface WebhookRules {
  disabled: boolean
  /** Whether the deployment has a custom HTTP app, which accepts webhooks whose URL is a path. */
  takes_paths: boolean
  require_https: boolean
  /** Lower case; `*.example.com` for all its subdomains. Null for all. */
  allowed_domains: readonly string[] | null
  allowed_ports: readonly number[] | null
  max_url_length: number
  /** Headers of every request, by lower-case name. */
  headers: Readonly<Record<string, string>>
}

/** Sources of the variables in header templates. The value is from the first source that has the variable. */
type Environment = Readonly<Record<string, string | undefined>>

const MAX_URL = 2048
const ENV_PREFIX = 'LG_WEBHOOK_'
const TEMPLATE = /\$\{\{\s*env\.(\w+)\s*\}\}/g
/** Headers that the rules cannot set, because receivers rely on them or HTTP needs them. */
const OWN_HEADERS =
  /^(webhook-(id|timestamp|signature)|content-(type|length)|host|connection|transfer-encoding|user-agent)$/
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Rules without restriction: every http or https URL. */
export const ANY_WEBHOOK: WebhookRules = {
  disabled: false,
  takes_paths: false,
  require_https: false,
  allowed_domains: null,
  allowed_ports: null,
  max_url_length: MAX_URL,
  headers: {},
}

/**
 * Rules from langgraph.json. A header's value may contain variables as `${{ env.NAME }}`. Their names must
 * begin with `env_prefix` (default `LG_WEBHOOK_`), so that no other variables leave the server. @throws
 * AppError config_invalid
 */
export function readWebhookRules(
  { webhooks, http }: { webhooks: JsonObject; http: JsonObject },
  environments: readonly Environment[],
): WebhookRules {
  const url = isObject(webhooks['url']) ? webhooks['url'] : {}
  const { max_url_length } = url
  const prefix = typeof webhooks['env_prefix'] === 'string' ? webhooks['env_prefix'] : ENV_PREFIX
  return {
    disabled: http['disable_webhooks'] === true,
    takes_paths: typeof http['app'] === 'string' && url['disable_loopback'] !== true,
    require_https: url['require_https'] === true,
    allowed_domains: list(url['allowed_domains'])?.map((domain) => String(domain).toLowerCase()) ?? null,
    allowed_ports: list(url['allowed_ports'])?.map(Number) ?? null,
    max_url_length: typeof max_url_length === 'number' ? Math.min(max_url_length, MAX_URL) : MAX_URL,
    headers: readHeaders(webhooks['headers'], prefix, environments),
  }
}

/**
 * The normalised URL of a webhook, or a path that begins with `/` for a route of the deployment's HTTP app.
 * @throws AppError invalid_request for a URL that the rules do not allow, that has a user, or that is not http or https
 */
export function webhookTarget(webhook: string, rules: WebhookRules = ANY_WEBHOOK): string {
  const path = pathOf(webhook)
  const fault =
    commonFault(webhook, rules) ?? (path === undefined ? urlFault(webhook, rules) : pathFault(rules))
  if (fault !== undefined) throw new AppError('invalid_request', { message: `webhook: ${fault}` })
  return path ?? new URL(webhook).href
}

/** Placeholder host to resolve a path. */
const NOWHERE = 'http://app.invalid'

/** The normalised path; undefined for a URL with a host, even without a protocol. */
function pathOf(webhook: string): string | undefined {
  if (!/^\/(?![/\\])/.test(webhook)) return undefined
  const url = URL.parse(webhook, NOWHERE)
  if (url?.origin !== NOWHERE || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search
}

function pathFault({ takes_paths }: WebhookRules): string | undefined {
  return takes_paths
    ? undefined
    : 'must be an absolute URL: the deployment has no http.app that a path could call.'
}

function commonFault(webhook: string, { disabled, max_url_length }: WebhookRules): string | undefined {
  if (disabled) return 'this deployment calls no webhooks.'
  return webhook.length > max_url_length ? `must not be longer than ${max_url_length} characters.` : undefined
}

function urlFault(webhook: string, rules: WebhookRules): string | undefined {
  const url = URL.parse(webhook)
  if (url === null) return 'must be an absolute URL.'
  const { protocol, username, password, hostname } = url
  if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL.'
  if (rules.require_https && protocol !== 'https:') return 'must be an https URL.'
  if (username !== '' || password !== '') return 'must not carry a user or password.'
  if (rules.allowed_domains?.some((domain) => isOfDomain(hostname, domain)) === false) {
    return `this deployment does not call ${hostname}.`
  }
  const port = Number(url.port || (protocol === 'https:' ? 443 : 80))
  if (rules.allowed_ports?.includes(port) === false) return `this deployment does not call port ${port}.`
  return undefined
}

function isOfDomain(hostname: string, domain: string): boolean {
  return domain.startsWith('*.') ? hostname.endsWith(domain.slice(1)) : hostname === domain
}

function list(value: JsonValue | undefined): JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function readHeaders(
  headers: JsonValue | undefined,
  prefix: string,
  environments: readonly Environment[],
): Record<string, string> {
  if (!isObject(headers)) return {}
  const read = Object.entries(headers).map(([name, value]) => {
    const lower = name.toLowerCase()
    if (!HEADER_NAME.test(name) || OWN_HEADERS.test(lower)) throw badHeader(name, 'cannot be set.')
    const filled = String(value).replace(TEMPLATE, (_template, variable: string) => {
      if (!variable.startsWith(prefix))
        throw badHeader(name, `may name variables that begin with ${prefix} only.`)
      const known = environments.find((environment) => environment[variable] !== undefined)?.[variable]
      if (known === undefined) throw badHeader(name, `names ${variable}, which is not set.`)
      return known
    })
    if (!HEADER_VALUE.test(filled)) throw badHeader(name, 'has characters that no header may have.')
    return [lower, filled] as const
  })
  return Object.fromEntries(read)
}

function badHeader(name: string, why: string): AppError {
  return new AppError('config_invalid', { message: `langgraph.json: webhooks.headers, "${name}" ${why}` })
}
