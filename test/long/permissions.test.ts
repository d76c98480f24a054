import { describe } from 'vitest'
import { permissionMatrix } from '../conformance/permission-matrix.ts'

describe('the whole permission matrix', () => {
  permissionMatrix('every way')
})
