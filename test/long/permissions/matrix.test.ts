import { describe } from 'vitest'
import { permissionMatrix } from '../../conformance/permissions/matrix.ts'

describe('IDENTITY-6, IDENTITY-7, RUN-2, P-7: the permission matrix', permissionMatrix)
