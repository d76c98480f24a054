import { vi } from 'vitest'
import { devTests } from './dev-tests.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Servers start, and their data is saved and restored.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

devTests('javascript')
