import { corpusTests } from './cases.ts'

corpusTests('every twelfth case')
