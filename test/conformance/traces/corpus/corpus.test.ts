import { corpusTests } from './cases.ts'

corpusTests('every third case')
