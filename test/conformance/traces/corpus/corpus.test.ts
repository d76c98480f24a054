import { corpusTests } from './cases.ts'

corpusTests('every sixth case')
