import { describe, vi } from 'vitest'
import { permissionMatrix } from '../../conformance/permissions/matrix.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Every route is called with every kind of key.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describe('IDENTITY-6, IDENTITY-7, RUN-2, P-7: the permission matrix', permissionMatrix)
