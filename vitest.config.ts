import { env } from 'node:process'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/test/longest-first.ts'
import { LONG, PROJECTS, SHARED } from './test/layers.ts'
import { campaignShare } from './test/support/campaign.ts'
import { NODE_COMPILE_CACHE } from './test/support/compile-cache.ts'
import { CONDITION_MS, PATIENCE_MS } from './test/support/eventually.ts'

const SECOND = 1_000
/** What needs more says so in its own line, with the reason. */
const LIMIT = { test: 30 * SECOND, hook: 60 * SECOND } as const
/** A property in `npm run test:long` has 20 times as many inputs. */
const PROPERTY_LIMIT_MS = 20 * LIMIT.test

/** Factors of the number of runs of each property. Those of `npm test` have the same inputs each time. */
const PROPERTY_LENGTH = { short: '0.12', long: String(20 * campaignShare()) }
/** Fixed seeds, so that a property does not pass in one run and fail in the next. PROPERTY_SEED sets another one. */
const SEEDS = { short: 1, long: 2 }
/** Whether each file runs in a process of its own with nothing beside it, as scripts/test.ts repeats failed ones. */
const IS_ALONE = env['TEST_ALONE'] !== undefined

export default defineConfig({
  test: {
    // For two cores, since tests spend a third of their time waiting for servers and timers.
    maxWorkers: IS_ALONE ? 1 : 3,
    passWithNoTests: true,
    // On a busy machine a worker may take more than the default 10 s to end, which is logged as an error.
    teardownTimeout: 60 * SECOND,
    globalSetup: ['./test/support/servers/shared-servers.ts'],
    reporters: ['default', './scripts/test/result-reporter.ts'],
    sequence: { sequencer: LongestFirst },
    // Projects do not extend the root config, since each of them would then start the shared servers.
    projects: Object.entries(PROJECTS).map(([name, include]) => {
      const isLong = LONG.some((project) => project === name)
      const isShared = name === 'shared' || SHARED.some((layer) => layer === name)
      return {
        test: {
          name,
          include,
          pool: 'forks' as const,
          env: {
            // Applies to test processes and their children.
            NODE_COMPILE_CACHE,
            PROPERTY_SEED: env['PROPERTY_SEED'] ?? String(isLong ? SEEDS.long : SEEDS.short),
            ...(!isLong && { PROPERTY_LENGTH: PROPERTY_LENGTH.short }),
            ...(name === 'properties' && { PROPERTY_LENGTH: PROPERTY_LENGTH.long }),
            ...(isLong && { TEST_LENGTH: 'long' }),
          },
          // Node loads TypeScript itself, as in a server, and uses its compile cache.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          isolate: !isShared || IS_ALONE,
          testTimeout: name === 'properties' ? PROPERTY_LIMIT_MS : LIMIT.test,
          hookTimeout: LIMIT.hook,
          // The default is a second.
          expect: { poll: { timeout: isLong ? PATIENCE_MS : CONDITION_MS } },
        },
      }
    }),
  },
})
