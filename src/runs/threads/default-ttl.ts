import type { JsonObject } from '../../schema/json.ts'
import type { ThreadTtl } from '../model.ts'

/** The time to live of new threads: `checkpointer.ttl` of langgraph.json, or null for none. */
export function defaultTtl(checkpointer_ttl: JsonObject | null): ThreadTtl | null {
  const minutes = checkpointer_ttl?.['default_ttl']
  if (typeof minutes !== 'number') return null
  const strategy = checkpointer_ttl?.['strategy'] === 'keep_latest' ? 'keep_latest' : 'delete'
  return { strategy, ttl_minutes: minutes }
}
