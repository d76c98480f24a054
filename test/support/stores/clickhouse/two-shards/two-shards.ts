/** The layout of the engine of start-two-shards.ts. */
export const TWO_SHARDS = { kind: 'shards', cluster: 'two_shards' } as const

/** Whether new databases of this process lie on that engine: see test-on-shards.ts. */
export function isOnShards(): boolean {
  return process.env['TESTED_CLICKHOUSE'] === TWO_SHARDS.kind
}
