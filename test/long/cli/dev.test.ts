import { devTests } from '../../conformance/cli/dev-tests.ts'

devTests('every change')
