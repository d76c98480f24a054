import { describe, vi } from 'vitest'
import { hostFaultTests } from '../../fault/graph-host-faults.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describe('hosts of TypeScript graphs', () => hostFaultTests('javascript', 'every case'))
