import { describe } from 'vitest'
import { permissionMatrix } from '../../conformance/permissions/matrix.ts'

describe('the whole permission matrix', () => {
  permissionMatrix('every way')
})
