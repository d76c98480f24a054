import { describe } from 'vitest'
import { devTests } from '../cli/dev-tests.ts'
import { withoutPython } from '../../support/python.ts'

const WITHOUT = withoutPython()

describe.skipIf(WITHOUT !== '')(`a project in Python${WITHOUT}`, () => devTests('python'))
