import { vi } from 'vitest'
import { fuzzBothListeners } from '../../support/fuzz/server.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Thousands of inputs.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const seed = Number(process.env['FUZZ_SEED'] ?? 1_122)

fuzzBothListeners({ requests: Number(process.env['FUZZ_REQUESTS'] ?? 10_000), seed })
