import type { StoreItem } from './kv-store.ts'

/** An item of the store as JSON text; the text of its value is inserted without parsing it. */
export function itemText(item: StoreItem & { score?: number | null }): string {
  const { namespace, key, value_json, created_at, updated_at, score } = item
  const head = JSON.stringify({
    namespace,
    key,
    created_at: new Date(created_at).toISOString(),
    updated_at: new Date(updated_at).toISOString(),
    ...(score !== undefined && { score }),
  })
  return `${head.slice(0, -1)},"value":${value_json}}`
}
