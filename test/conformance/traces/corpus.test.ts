import { corpusTests } from './corpus-cases.ts'

corpusTests('every third case')
