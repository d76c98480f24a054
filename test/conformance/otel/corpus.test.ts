import { otlpCorpusTests } from './corpus-cases.ts'

otlpCorpusTests('every fourth case')
