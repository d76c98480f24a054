import { isObject, type JsonValue, text } from '../../schema/json.ts'
import { TIERS } from './token-costs.ts'

type Conditions = Readonly<Record<string, string>>

const NEUTRAL: ReadonlySet<string> = new Set([
  'default',
  'standard',
  'standard_only',
  'auto',
  'global',
  'not_available',
  'on_demand',
  'on-demand',
  'normal',
  'false',
])
/** Conditions that say how a stated cost came about, and change no computed one. */
const NO_PRICE = new Set(['byok', 'models'])
const TRAFFIC = /^on_demand_(flex|priority)$/

/** The service tier that the conditions name; `standard` for a neutral word, undefined if they name none. */
export function tierInConditions({ service_tier, traffic_type }: Conditions): string | undefined {
  const traffic = TRAFFIC.exec(traffic_type?.trim().toLowerCase() ?? '')?.[1]
  if (traffic !== undefined) return traffic
  const tier = service_tier?.trim().toLowerCase()
  if (tier === undefined) return undefined
  if (NEUTRAL.has(tier)) return tier === 'auto' ? undefined : 'standard'
  return tier
}

/** The conditions besides the service tier on which the price depends, in lower case. */
export function contextOf(conditions: Conditions): Record<string, string> {
  const context: Record<string, string> = {}
  for (const [name, value] of Object.entries(conditions)) {
    const word = value.trim().toLowerCase()
    if (NEUTRAL.has(word) || NO_PRICE.has(name)) continue
    if (name === 'service_tier' || (name === 'traffic_type' && TRAFFIC.test(word))) continue
    context[name] = word
  }
  return context
}

/** The conditions that requests ask for, besides the service tier; those of an answer have precedence. */
export function requestedConditions(requests: readonly (JsonValue | undefined)[]): Record<string, string> {
  const asked: Record<string, string> = {}
  for (const request of requests) {
    if (!isObject(request)) continue
    for (const [name, object, key] of REQUESTED) {
      const around = object === undefined ? request : request[object]
      const word = isObject(around) ? text(around[key])?.slice(0, 100) : undefined
      if (word) asked[name] ??= word
    }
  }
  return asked
}

/** Names of conditions, and where a request has them: the object inside it, if any, and the key. */
const REQUESTED: readonly (readonly [name: string, object: string | undefined, key: string])[] = [
  ['speed', undefined, 'speed'],
  ['inference_geo', undefined, 'inference_geo'],
  ['latency', 'performanceConfig', 'latency'],
  ['search_context_size', 'web_search_options', 'search_context_size'],
]

/** A tier that is no detail of the counts, because its name is unknown. */
export function unknownTier(conditions: Conditions): string | undefined {
  const tier = tierInConditions(conditions)
  return tier === undefined || tier === 'standard' || TIERS.includes(tier) ? undefined : tier
}
