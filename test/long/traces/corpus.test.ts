import { vi } from 'vitest'
import { corpusTests } from '../../conformance/traces/corpus/cases.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

corpusTests('every case')
