import { describe } from 'vitest'
import { describeChangedStores } from '../../support/faults/stores/changed-stores.ts'

describe('a data directory that has changed', () =>
  describeChangedStores({
    missing: ['clickhouse', 'weir.db', 'runs.db', 'blobs', 'ingest-log'],
    damaged: ['weir.db', 'runs.db'],
  }))
