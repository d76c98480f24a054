import { fuzzBothListeners } from '../../support/fuzz/server.ts'

// A short version of test/long/fuzz/openapi.test.ts, so that `npm test` covers new routes.
fuzzBothListeners({ requests: 80, seed: 20_261_122, isExhaustive: false })
