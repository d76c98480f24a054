import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { printCoverage } from './test/coverage.ts'
import { chooseChanged, LONG_SECONDS } from './test/changed.ts'
import type { FileResult, TestRunResult } from './test/results.ts'
import { failedCount, summaryLines, withRerun } from './test/results.ts'
import { LONG } from '../test/layers.ts'
import { readTimes, withTimes, writeTimes } from './test/times.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const SHORT_PROJECTS = ['shared', 'instrumented']
/** Files that run again after a failure. More failed files than these are not a matter of chance. */
const MOST_RERUN = 10
/** The share of each campaign in `.ci/run`, and so in the kept times. */
const CI_SHARE = '0.1'

const USAGE = `usage: node scripts/launch.mjs scripts/test.ts COMMAND [ARGUMENTS OF VITEST]
  short      what npm test runs
  long       all other tests; a word or folder selects files: long deployments
  changed    those of the long tests that cover what differs from origin/main, up to ${LONG_SECONDS / 60} minutes;
             --list prints their paths only
  times      runs all of them, or only those of short or long, and writes test/times.json
  coverage   runs npm test and prints the lines of each room that it executes`

interface RunOptions {
  /** Each file in a process of its own, with nothing beside it. */
  alone?: boolean
  environment?: Record<string, string>
}

/** Runs vitest; its results, or undefined if it ended before it had any. */
function runVitest(
  projects: readonly string[],
  args: readonly string[],
  { alone = false, environment = {} }: RunOptions = {},
): TestRunResult | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'weir-tests-'))
  const path = join(folder, 'results.json')
  try {
    spawnSync(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', ...projects.map((name) => `--project=${name}`), ...args],
      {
        cwd: ROOT,
        stdio: 'inherit',
        env: { ...env, ...environment, TEST_RESULTS: path, ...(alone && { TEST_ALONE: '1' }) },
      },
    )
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TestRunResult) : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the failed files once more, alone; undefined if one of the runs had no results. */
function runAgain(
  failed: readonly FileResult[],
  environment: Record<string, string>,
): TestRunResult | undefined {
  const again: TestRunResult = { files: [], unhandled: [] }
  for (const [project, files] of Map.groupBy(failed, (file) => file.project)) {
    const paths = files.map(({ file }) => file)
    console.log(`\nfailed, run again alone: ${paths.join(', ')}`)
    const result = runVitest([project], paths, { alone: true, environment })
    if (result === undefined) return undefined
    again.files.push(...result.files)
    again.unhandled.push(...result.unhandled)
  }
  return again
}

/** Runs the tests, the files that fail once more, and prints the closing lines. Returns the results of all files. */
function runTests(
  projects: readonly string[],
  args: readonly string[],
  environment: Record<string, string> = {},
): FileResult[] {
  const first = runVitest(projects, args, { environment })
  if (first === undefined) {
    console.log('vitest ended without results\n0 passed, 1 failed')
    process.exitCode = 1
    return []
  }
  const failed = first.files.filter((file) => file.failed.length > 0)
  const isRerun = failed.length > 0 && failed.length <= MOST_RERUN
  const again = isRerun ? runAgain(failed, environment) : undefined
  const { result, flaky } = again === undefined ? { result: first, flaky: [] } : withRerun(first, again)
  console.log()
  for (const line of summaryLines(result, flaky)) console.log(line)
  if (failedCount(result) > 0) process.exitCode = 1
  return result.files
}

/** Runs `npm run bench:guard`, whose last line counts it like a test. */
function runGuard(): void {
  const { status } = spawnSync(process.execPath, ['bench/guard.bench.ts'], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}

function runChanged(args: readonly string[]): void {
  const { chosen, leftOut } = chooseChanged(ROOT)
  if (args.includes('--list')) {
    for (const file of chosen) console.log(file)
    return
  }
  for (const file of leftOut) console.log(`left out: ${file}`)
  if (chosen.length > 0) runTests(LONG, [...chosen, ...args])
  else console.log('no long test covers the change\n0 passed, 0 failed')
}

function measureTimes([length, ...args]: readonly string[]): void {
  const files = [
    ...(length === 'long' ? [] : runTests(SHORT_PROJECTS, args)),
    ...(length === 'short' ? [] : runTests(LONG, args, { CAMPAIGN_SHARE: CI_SHARE })),
  ]
  writeTimes(withTimes(readTimes(), files, (file) => existsSync(join(ROOT, file))))
}

function measureCoverage(args: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'weir-coverage-'))
  // Coverage of code from a compile cache is not exact.
  runTests(SHORT_PROJECTS, args, { NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: '1' })
  printCoverage(ROOT, folder)
  rmSync(folder, { recursive: true, force: true })
}

const COMMANDS: Record<string, (args: readonly string[]) => void> = {
  short: (args) => void runTests(SHORT_PROJECTS, args),
  long(args) {
    runTests(LONG, args)
    // With nothing beside it, because it compares times.
    if (args.length === 0) runGuard()
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
} else run(rest)
