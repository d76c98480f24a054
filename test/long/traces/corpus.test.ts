import { corpusTests } from '../../conformance/traces/corpus/cases.ts'

corpusTests('every case')
