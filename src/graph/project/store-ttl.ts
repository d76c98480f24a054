import type { JsonObject } from '../../schema/json.ts'

/** Lifetime of the items of a deployment's long-term memory. */
export interface StoreTtl {
  /** Minutes; null for items that do not expire. */
  default_ttl: number | null
  /** Whether reading an item extends its lifetime. */
  refresh_on_read: boolean
}

export function readStoreTtl(ttl: JsonObject | null): StoreTtl {
  const minutes = ttl?.['default_ttl']
  return {
    default_ttl: typeof minutes === 'number' ? minutes : null,
    refresh_on_read: ttl?.['refresh_on_read'] !== false,
  }
}
