import { otlpCorpusTests } from '../../conformance/otel/corpus-cases.ts'

otlpCorpusTests('every case')
