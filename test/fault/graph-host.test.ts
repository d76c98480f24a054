import { vi } from 'vitest'
import { hostFaultTests } from './graph-host-faults.ts'

// Hosts end and start again, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

hostFaultTests('javascript', 'main cases')
