import { describe } from 'vitest'
import { devTests } from '../../conformance/cli/dev-tests.ts'
import { withoutPython } from '../../support/python.ts'

const WITHOUT = withoutPython()

describe.skipIf(WITHOUT !== '')(`a project in Python${WITHOUT}`, () => devTests('every change', 'python'))
