/** The layout of the engine of start-two-shards.ts. */
export const TWO_SHARDS = { kind: 'shards', cluster: 'two_shards' } as const
