import { fuzzBothListeners } from '../support/fuzz-server.ts'

// A few of the requests of test/long/openapi-fuzz.test.ts, so that a new route is tried at once.
fuzzBothListeners({ requests: 500, seed: 20_261_122, isExhaustive: false })
