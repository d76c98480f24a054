import { testOnShards } from '../../../support/stores/clickhouse/two-shards/test-on-shards.ts'

testOnShards()
await import('../../../contract/ingest/span-parts.test.ts')
await import('../../../contract/ingest/retention.test.ts')
await import('../../../contract/fragments/attachment-uses.test.ts')
await import('../../../contract/fragments/fragments-by-day.test.ts')
await import('../../stores/repair-double-rows.test.ts')
