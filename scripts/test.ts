import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LONG } from '../test/layers.ts'
import { chooseChanged, LONG_SECONDS } from './test/changed.ts'
import { printCoverage } from './test/coverage.ts'
import { ROOT, runScript, runTests } from './test/run-tests.ts'
import { readTimes, withTimes, writeTimes } from './test/times.ts'

const SHORT_PROJECTS = ['shared']
/** The share of each campaign in `.ci/run`, and so in the kept times. */
const CI_SHARE = '0.1'

const USAGE = `usage: node scripts/launch.mjs scripts/test.ts COMMAND [ARGUMENTS OF VITEST]
  short      what npm test runs
  long       all other tests; a word or folder selects files: long deployments
  changed    those of the long tests that cover what differs from origin/main, up to ${LONG_SECONDS / 60} minutes;
             --list prints their paths only
  times      runs all of them, or only those of short or long, and writes test/times.json
  coverage   runs npm test and prints the lines of each room that it executes`

/** Runs `npm run bench:guard`, whose last line counts it like a test. */
async function runGuard(): Promise<void> {
  if ((await runScript(['bench/guard.bench.ts'])) !== 0) process.exitCode = 1
}

async function runChanged(args: readonly string[]): Promise<void> {
  const { chosen, leftOut } = chooseChanged(ROOT)
  if (args.includes('--list')) {
    for (const file of chosen) console.log(file)
    return
  }
  if (leftOut.length > 0)
    console.log(`left out: ${leftOut.length} long test files, for which there is no time:`)
  for (const file of leftOut) console.log(`  ${file}`)
  if (chosen.length > 0) await runTests(LONG, [...chosen, ...args])
  else console.log('no long test covers the change\n0 passed, 0 failed')
}

async function measureTimes([length, ...args]: readonly string[]): Promise<void> {
  const files = [
    ...(length === 'long' ? [] : await runTests(SHORT_PROJECTS, args)),
    ...(length === 'short' ? [] : await runTests(LONG, args, { CAMPAIGN_SHARE: CI_SHARE })),
  ]
  writeTimes(withTimes(readTimes(), files, (file) => existsSync(join(ROOT, file))))
}

async function measureCoverage(args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-coverage-'))
  // Coverage of code from a compile cache is not exact.
  await runTests(SHORT_PROJECTS, args, { NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: '1' })
  printCoverage(ROOT, folder)
  rmSync(folder, { recursive: true, force: true })
}

const COMMANDS: Record<string, (args: readonly string[]) => Promise<unknown>> = {
  short: (args) => runTests(SHORT_PROJECTS, args),
  async long(args) {
    await runTests(LONG, args)
    // With nothing beside it, because it compares times.
    if (args.length === 0) await runGuard()
  },
  changed: runChanged,
  times: measureTimes,
  coverage: measureCoverage,
}

const [command = '', ...rest] = process.argv.slice(2)
const run = COMMANDS[command]
if (run === undefined) {
  console.error(USAGE)
  process.exitCode = 2
} else await run(rest)
