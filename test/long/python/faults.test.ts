import { describe } from 'vitest'
import { hostFaultTests } from '../../fault/graph-host-faults.ts'
import { withoutPython } from '../../support/python.ts'

const WITHOUT = withoutPython()

describe.skipIf(WITHOUT !== '')(`Python hosts${WITHOUT}`, () => hostFaultTests('python', 'every case'))
