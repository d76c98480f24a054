import { vi } from 'vitest'
import { TWO_SHARDS } from './two-shards.ts'

/** A statement has a part for each shard, and subqueries of its own. */
const PATIENCE_MS = 180_000

/**
 * Makes the databases of this file lie on two shards, and runs of the tests that it imports then as many as `npm test`.
 * The file must run in a process of its own.
 */
export function testOnShards(): void {
  vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS })
  Object.assign(process.env, {
    TESTED_CLICKHOUSE: TWO_SHARDS.kind,
    TEST_LENGTH: 'short',
    PROPERTY_LENGTH: '0.12',
  })
}
