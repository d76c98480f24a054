import { globSync, readFileSync } from 'node:fs'
import { env } from 'node:process'
import { defineConfig } from 'vitest/config'
import { NODE_COMPILE_CACHE } from './test/support/compile-cache.ts'

/** Test layers by folder (CONTRIBUTING.md); `long`, and `properties` (see below), are for `npm run test:long` only. */
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

/** In `npm run test:long` every property is tried so many times as often as in `npm test`. */
const PROPERTY_LENGTH = '20'
/** What properties begin with: they do not pass in one run and fail in the next. PROPERTY_SEED tries another. */
const SEEDS = { short: 1, long: 2 }

/** All test files that hold properties, of whatever layer. */
function propertyFiles(): string[] {
  return globSync('{src,processors,test}/**/*.test.ts').filter((file) =>
    readFileSync(file, 'utf8').includes('/support/properties.ts'),
  )
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    passWithNoTests: true,
    globalSetup: ['./test/support/shared-servers.ts'],
    reporters: ['default', './scripts/summary-reporter.ts'],
    // They do not extend what is above: the servers that all files share would be started for each of them.
    projects: Object.entries({ ...LAYERS, properties: propertyFiles() }).map(([name, include]) => {
      const isLong = name === 'long' || name === 'properties'
      return {
        test: {
          name,
          include,
          pool: 'forks' as const,
          env: {
            // The processes that tests run in, and those that they start.
            NODE_COMPILE_CACHE,
            PROPERTY_SEED: env['PROPERTY_SEED'] ?? String(isLong ? SEEDS.long : SEEDS.short),
            ...(name === 'properties' && { PROPERTY_LENGTH }),
          },
          isolate: !SHARED.has(name),
          testTimeout: isLong ? LONG_TIMEOUT_MS : TIMEOUT_MS,
          hookTimeout: isLong ? LONG_TIMEOUT_MS : TIMEOUT_MS,
        },
      }
    }),
  },
})
