import { defineConfig } from 'vitest/config'
import { NODE_COMPILE_CACHE } from './test/support/compile-cache.ts'

/** Test layers by folder (CONTRIBUTING.md); `test/long` runs in `npm run test:long` only. */
const LAYERS = {
  unit: ['{src,processors,scripts,bin}/**/*.test.{ts,mjs}'],
  model: ['test/model/**/*.test.ts'],
  golden: ['test/golden/**/*.test.ts'],
  contract: ['test/contract/**/*.test.ts'],
  conformance: ['test/conformance/**/*.test.ts'],
  fault: ['test/fault/**/*.test.ts'],
  long: ['test/long/**/*.test.ts'],
}
/** Layers whose files keep nothing global: they share processes, which start slowly. */
const SHARED = new Set(['unit', 'model', 'golden'])
const MINUTE = 60_000
/** A hang is found out after minutes as well as after seconds; a slow machine must not fail a test. */
const TIMEOUT_MS = 5 * MINUTE
const LONG_TIMEOUT_MS = 30 * MINUTE

export default defineConfig({
  test: {
    maxWorkers: 2,
    passWithNoTests: true,
    globalSetup: ['./test/support/shared-servers.ts'],
    reporters: ['default', './scripts/summary-reporter.ts'],
    // They do not extend what is above: the servers that all files share would be started for each of them.
    projects: Object.entries(LAYERS).map(([name, include]) => ({
      test: {
        name,
        include,
        pool: 'forks' as const,
        // The processes that tests run in, and those that they start.
        env: { NODE_COMPILE_CACHE },
        isolate: !SHARED.has(name),
        testTimeout: name === 'long' ? LONG_TIMEOUT_MS : TIMEOUT_MS,
        hookTimeout: name === 'long' ? LONG_TIMEOUT_MS : TIMEOUT_MS,
      },
    })),
  },
})
