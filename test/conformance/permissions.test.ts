import { describe } from 'vitest'
import { permissionMatrix } from './permission-matrix.ts'

describe('the permission matrix', () => {
  permissionMatrix('a way in turn')
})
