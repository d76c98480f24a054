import { fuzzBothListeners } from '../../support/fuzz/server.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? 1_122)

fuzzBothListeners({ requests: Number(process.env['FUZZ_REQUESTS'] ?? 10_000), seed })
