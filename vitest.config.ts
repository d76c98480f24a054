import { defineConfig } from 'vitest/config'

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
const MINUTE = 60_000
const TIMEOUTS: Record<string, number> = { unit: 10_000, model: MINUTE, golden: MINUTE, long: 30 * MINUTE }

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    passWithNoTests: true,
    reporters: ['default', './scripts/summary-reporter.ts'],
    projects: Object.entries(LAYERS).map(([name, include]) => ({
      extends: true,
      test: {
        name,
        include,
        testTimeout: TIMEOUTS[name] ?? 2 * MINUTE,
        hookTimeout: TIMEOUTS[name] ?? 2 * MINUTE,
      },
    })),
  },
})
