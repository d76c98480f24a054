import { describe, vi } from 'vitest'
import { describeChangedStores } from '../../support/faults/stores/changed-stores.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describe('a data directory that has changed', () =>
  describeChangedStores({
    missing: ['clickhouse', 'weir.db', 'runs.db', 'blobs', 'ingest-log'],
    damaged: ['weir.db', 'runs.db'],
  }))
