import { describe } from 'vitest'
import { hostFaultTests } from '../../fault/graph-host-faults.ts'

describe('hosts of TypeScript graphs', () => hostFaultTests('javascript', 'every case'))
