import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { cwd, env } from 'node:process'
import { stripVTControlCharacters } from 'node:util'
import type {
  Reporter,
  SerializedError,
  TestCase,
  TestModule,
  TestSpecification,
  TestSuite,
} from 'vitest/node'
import type { FailedTest, FileResult, TestRunResult } from './results.ts'
import { summaryLines } from './results.ts'

/** Characters of an error that are kept. */
const MAX_ERROR = 4_000

/** The file and the title of a skipped test, or of its outermost skipped suite. The title contains the reason. */
function place(test: TestCase): string {
  let found: TestCase | TestSuite = test
  for (let { parent } = test; parent.type === 'suite'; { parent } = parent)
    if (parent.options.mode === 'skip') found = parent
  return `${test.module.relativeModuleId} > ${found.fullName}`
}

function errorText(errors: readonly (SerializedError | Error)[]): string {
  const [first] = errors
  if (first === undefined) return 'no error was reported'
  const { message, stack = '' } = first
  const text = stack.includes(message) ? stack : `${message}\n${stack}`
  return stripVTControlCharacters(text).trim().slice(0, MAX_ERROR)
}

/** The path from the root of the file whose tests ran in the process when the error was thrown. */
function fileOf({ VITEST_TEST_PATH: path }: SerializedError): string | undefined {
  return typeof path === 'string' ? relative(cwd(), path) : undefined
}

/** What failed in a file: tests, suites whose hooks failed, and the file itself if it could not be loaded. */
function failuresIn(module: TestModule): FailedTest[] {
  const failed: FailedTest[] = []
  if (module.errors().length > 0) failed.push({ test: '(the file)', error: errorText(module.errors()) })
  for (const suite of module.children.allSuites())
    if (suite.errors().length > 0) failed.push({ test: suite.fullName, error: errorText(suite.errors()) })
  for (const test of module.children.allTests('failed'))
    failed.push({ test: test.fullName, error: errorText(test.result().errors ?? []) })
  return failed
}

function fileResult(module: TestModule): FileResult {
  const skipped = new Map<string, number>()
  let passed = 0
  for (const test of module.children.allTests()) {
    if (test.result().state === 'passed') passed += 1
    else if (test.result().state === 'skipped' && test.options.mode === 'skip')
      skipped.set(place(test), (skipped.get(place(test)) ?? 0) + 1)
  }
  const { duration, collectDuration, setupDuration } = module.diagnostic()
  return {
    file: module.relativeModuleId,
    project: module.project.name,
    ms: Math.round(duration + collectDuration + setupDuration),
    slowestMs: Math.round(
      Math.max(0, ...[...module.children.allTests()].map((test) => test.diagnostic()?.duration ?? 0)),
    ),
    passed,
    skipped: [...skipped].map(([what, count]) => ({ what, count })),
    failed: failuresIn(module),
  }
}

/**
 * Prints the settings of property tests. At the end it writes the results to the file that TEST_RESULTS names, from
 * which scripts/test.ts prints its closing lines; without that variable it prints them itself.
 */
export default class ResultReporter implements Reporter {
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const environments = specifications.map(({ project }) => project.config.env)
    const lines = environments.map(
      ({ PROPERTY_SEED, PROPERTY_LENGTH = '1' }) =>
        `properties: PROPERTY_SEED=${PROPERTY_SEED}, ${PROPERTY_LENGTH} times their length`,
    )
    for (const line of new Set(lines)) console.log(line)
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const result: TestRunResult = {
      files: modules.map(fileResult),
      unhandled: unhandledErrors.map((error) => ({ file: fileOf(error), error: errorText([error]) })),
    }
    const path = env['TEST_RESULTS']
    if (path !== undefined) writeFileSync(path, JSON.stringify(result))
    else for (const line of summaryLines(result, [])) console.log(line)
  }
}
