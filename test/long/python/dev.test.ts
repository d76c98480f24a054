import { describe, vi } from 'vitest'
import { devTests } from '../cli/dev-tests.ts'
import { withoutPython } from '../../support/python.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Python starts slowly, once for each host.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const WITHOUT = withoutPython()

describe.skipIf(WITHOUT !== '')(`a project in Python${WITHOUT}`, () => devTests('python'))
