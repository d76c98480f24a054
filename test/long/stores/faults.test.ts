import { describe, vi } from 'vitest'
import { describeStoreFaults } from '../../support/faults/stores/store-faults.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describe('faults of the store', describeStoreFaults)
