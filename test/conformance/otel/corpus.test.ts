import { otlpCorpusTests } from './corpus-cases.ts'

otlpCorpusTests('some cases')
