import { hostFaultTests } from './graph-host-faults.ts'

hostFaultTests('javascript', 'main cases')
