import { testOnShards } from '../../../support/stores/clickhouse/clickhouse-database.ts'

testOnShards()
await import('../../../contract/usage/details.test.ts')
await import('../../../contract/usage/tables.test.ts')
await import('../../../contract/ingest/repricer.test.ts')
