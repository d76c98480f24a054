import { testOnShards } from '../../../support/stores/clickhouse/two-shards/test-on-shards.ts'

testOnShards()
await import('../../../contract/usage/details.test.ts')
await import('../../../contract/usage/tables.test.ts')
await import('../../../contract/ingest/repricer.test.ts')
