import { describe, vi } from 'vitest'
import { hostFaultTests } from '../../fault/graph-host-faults.ts'
import { withoutPython } from '../../support/python.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Python starts slowly, once for each host.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const WITHOUT = withoutPython()

describe.skipIf(WITHOUT !== '')(`Python hosts${WITHOUT}`, () => hostFaultTests('python', 'every case'))
