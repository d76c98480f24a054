import { devTests } from './dev-tests.ts'

devTests('javascript')
