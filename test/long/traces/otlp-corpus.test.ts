import { vi } from 'vitest'
import { otlpCorpusTests } from '../../conformance/otel/corpus-cases.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

otlpCorpusTests('every case')
