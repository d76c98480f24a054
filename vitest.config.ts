import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { env } from 'node:process'
import { defineConfig } from 'vitest/config'
import { campaignShare } from './test/support/campaign.ts'
import { NODE_COMPILE_CACHE } from './test/support/compile-cache.ts'
import { PATIENCE_MS } from './test/support/eventually.ts'

/** Test files that patch the packages of vendors, each in a separate process. */
const INSTRUMENTED = ['test/conformance/otel/instrumentations/*.test.ts']

/** Test layers by folder (CONTRIBUTING.md). `long` and `properties` run only in `npm run test:long`. */
const LAYERS = {
  unit: ['{src,processors,scripts,bin,ui}/**/*.test.{ts,mjs}', 'test/instrumentations/is-within.test.ts'],
  model: ['test/model/**/*.test.ts'],
  golden: ['test/golden/**/*.test.ts'],
  contract: ['test/contract/**/*.test.ts'],
  conformance: ['test/conformance/**/*.test.ts'],
  instrumented: INSTRUMENTED,
  fault: ['test/fault/**/*.test.ts'],
  field: ['test/field/*.test.ts'],
  long: [
    'test/long/**/*.test.ts',
    'test/field/*.test.ts',
    'test/instrumentations/{javascript,python,packages}.test.ts',
    ...shortenedFiles(),
  ],
}
/** Layers whose test files change no global state. These files share processes, because a process starts slowly. */
const SHARED = ['unit', 'model', 'golden', 'contract', 'conformance', 'fault'] as const
/**
 * Projects by name. Processes are shared only within a project, so `npm test` runs the shared layers as one project,
 * `shared`.
 */
const PROJECTS = { ...LAYERS, shared: SHARED.flatMap((layer) => LAYERS[layer]), properties: propertyFiles() }
const MINUTE = 60_000
/** Long, so that a slow machine fails no test; a hang is only reported later. */
const TIMEOUT_MS = 5 * MINUTE
const LONG_TIMEOUT_MS = 30 * MINUTE

/** Factor of the number of runs of each property in `npm run test:long`. */
const PROPERTY_LENGTH = String(20 * campaignShare())
/** Fixed seeds, so that a property does not pass in one run and fail in the next. PROPERTY_SEED sets another one. */
const SEEDS = { short: 1, long: 2 }

/** Paths of test files in any layer that contain property tests. */
function propertyFiles(): string[] {
  return testFiles().filter((file) => readFileSync(file, 'utf8').includes('/support/properties.ts'))
}

/**
 * Paths of test files of which `npm test` runs only some tests: those that import test/support/length.ts, directly or
 * through other files of test/. Files with property tests are not among them, because the layer `properties` of
 * `npm run test:long` already runs them whole.
 */
function shortenedFiles(): string[] {
  const found = new Map<string, boolean>([['test/support/length.ts', true]])
  const isShortened = (file: string): boolean => {
    const known = found.get(file)
    if (known !== undefined) return known
    found.set(file, false)
    const imports = readFileSync(file, 'utf8').matchAll(/from '(\.[^']+\.ts)'/g)
    const inTest = [...imports]
      .map(([, path = '']) => join(dirname(file), path))
      // Tests also contain programs as text, whose imports exist nowhere.
      .filter((path) => path.startsWith('test/') && existsSync(path))
    const isOne = inTest.filter(isShortened).length > 0
    found.set(file, isOne)
    return isOne
  }
  const properties = new Set(propertyFiles())
  return testFiles().filter((file) => !properties.has(file) && isShortened(file))
}

function testFiles(): string[] {
  return globSync('{src,processors,test,ui}/**/*.test.ts')
}

export default defineConfig({
  test: {
    // For two cores, since tests spend a third of their time waiting for servers and timers.
    maxWorkers: 3,
    passWithNoTests: true,
    // On a busy machine a worker may take more than the default 10 s to end, which is logged as an error.
    teardownTimeout: MINUTE,
    globalSetup: ['./test/support/servers/shared-servers.ts'],
    reporters: ['default', './scripts/summary-reporter.ts'],
    // Projects do not extend the root config, since each of them would then start the shared servers.
    projects: Object.entries(PROJECTS).map(([name, include]) => {
      const isLong = name === 'long' || name === 'properties'
      const isShared = name === 'shared' || SHARED.some((layer) => layer === name)
      return {
        test: {
          name,
          include,
          exclude: isShared ? INSTRUMENTED : [],
          pool: 'forks' as const,
          env: {
            // Applies to test processes and their children.
            NODE_COMPILE_CACHE,
            PROPERTY_SEED: env['PROPERTY_SEED'] ?? String(isLong ? SEEDS.long : SEEDS.short),
            ...(name === 'properties' && { PROPERTY_LENGTH }),
            ...(isLong && { TEST_LENGTH: 'long' }),
          },
          // Node loads TypeScript itself, as in a server, and uses its compile cache.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          isolate: !isShared,
          testTimeout: isLong ? LONG_TIMEOUT_MS : TIMEOUT_MS,
          hookTimeout: isLong ? LONG_TIMEOUT_MS : TIMEOUT_MS,
          // The default is a second.
          expect: { poll: { timeout: PATIENCE_MS } },
        },
      }
    }),
  },
})
