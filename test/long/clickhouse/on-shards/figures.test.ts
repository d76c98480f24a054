import { testOnShards } from '../../../support/stores/clickhouse/two-shards/test-on-shards.ts'

testOnShards()
await import('../../../contract/traces/project-stats.test.ts')
await import('../../../contract/traces/thread-hours.test.ts')
await import('../../../contract/traces/thread-reads.test.ts')
await import('../../../contract/figures/kept-figures.test.ts')
