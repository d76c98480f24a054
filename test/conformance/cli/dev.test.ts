import { devTests } from './dev-tests.ts'

devTests('each kind of change')
