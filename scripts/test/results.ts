/** A test, or a suite or file outside of its tests, that failed, with its first error. */
export interface FailedTest {
  test: string
  error: string
}

export interface FileResult {
  /** Path from the root of the repository. */
  file: string
  /** Project of vitest.config.ts. */
  project: string
  /** Milliseconds that the file took in its worker. */
  ms: number
  /** Milliseconds of its slowest test. */
  slowestMs: number
  passed: number
  skipped: { what: string; count: number }[]
  failed: FailedTest[]
}

/** An error outside of any test. */
export interface StrayError {
  /** Path of the file that ran in its process; undefined if none did. */
  file?: string | undefined
  error: string
}

export interface TestRunResult {
  files: FileResult[]
  unhandled: StrayError[]
}

/** A test that failed, and passed when its file ran again. */
export interface FlakyTest {
  file: string
  test: string
}

const keyOf = ({ file, project }: FileResult): string => `${project} ${file}`

/**
 * The result of both runs: that of a file which ran again is the one of its second run, errors outside of its tests
 * included.
 */
export function withRerun(
  first: TestRunResult,
  again: TestRunResult,
): { result: TestRunResult; flaky: FlakyTest[] } {
  const second = new Map(again.files.map((file) => [keyOf(file), file]))
  const flaky: FlakyTest[] = []
  const files = first.files.map((file) => {
    const now = second.get(keyOf(file))
    if (now === undefined || file.failed.length === 0) return file
    if (now.failed.length === 0) flaky.push(...file.failed.map(({ test }) => ({ file: file.file, test })))
    return now
  })
  const ranAgain = new Set(again.files.map(({ file }) => file))
  const unhandled = first.unhandled.filter(({ file }) => file === undefined || !ranAgain.has(file))
  return { result: { files, unhandled: [...unhandled, ...again.unhandled] }, flaky }
}

/** Number of failed tests, suites and files, and of errors outside of tests. */
export function failedCount({ files, unhandled }: TestRunResult): number {
  return files.reduce((sum, { failed }) => sum + failed.length, unhandled.length)
}

/**
 * The closing lines of a test command: what was skipped, which tests were flaky, the first error of everything that
 * failed, and `N passed, N failed`.
 */
export function summaryLines(result: TestRunResult, flaky: readonly FlakyTest[]): string[] {
  const { files, unhandled } = result
  const passed = files.reduce((sum, file) => sum + file.passed, 0)
  return [
    ...files.flatMap(({ skipped }) =>
      skipped.map(({ what, count }) => `skipped: ${what}: ${count} ${count === 1 ? 'test' : 'tests'}`),
    ),
    ...flaky.map(({ file, test }) => `flaky: ${file} › ${test}`),
    ...files.flatMap(({ file, failed }) =>
      failed.map(({ test, error }) => `failed: ${file} › ${test}\n${error.replaceAll(/^/gm, '  ')}`),
    ),
    ...unhandled.map(
      ({ file = 'no file', error }) => `failed outside of a test: ${file}\n${error.replaceAll(/^/gm, '  ')}`,
    ),
    `${passed} passed, ${failedCount(result)} failed`,
  ]
}
