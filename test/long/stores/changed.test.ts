import { describe } from 'vitest'
import { describeChangedStores } from '../../support/faults/stores/changed-stores.ts'

describe('a data directory that has changed in more ways', () =>
  describeChangedStores({
    missing: ['weir.db', 'runs.db', 'blobs', 'ingest-log'],
    damaged: ['weir.db', 'runs.db'],
  }))
