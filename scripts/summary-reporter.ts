import type { Reporter, TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node'

/** The file and the title of a skipped test, or of its outermost skipped suite. The title contains the reason. */
function place(test: TestCase): string {
  let found: TestCase | TestSuite = test
  for (let { parent } = test; parent.type === 'suite'; { parent } = parent)
    if (parent.options.mode === 'skip') found = parent
  return `${test.module.relativeModuleId} > ${found.fullName}`
}

/**
 * Prints the settings of property tests, a line `skipped: …` for each skipped test or suite, and the last line of every
 * test command: `N passed, N failed`. A file that cannot be loaded, a suite whose hooks fail, and an unhandled error
 * each count as failed, so that the line agrees with the exit code.
 */
export default class SummaryReporter implements Reporter {
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const environments = specifications.map(({ project }) => project.config.env)
    const lines = environments.map(
      ({ PROPERTY_SEED, PROPERTY_LENGTH = '1' }) =>
        `properties: PROPERTY_SEED=${PROPERTY_SEED}, ${PROPERTY_LENGTH} times their length`,
    )
    for (const line of new Set(lines)) console.log(line)
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0
    let failed = unhandledErrors.length
    const skipped = new Map<string, number>()
    for (const module of modules) {
      for (const suite of [module, ...module.children.allSuites()]) if (suite.errors().length > 0) failed += 1
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed += 1
        else if (state === 'failed') failed += 1
        else if (test.options.mode === 'skip') skipped.set(place(test), (skipped.get(place(test)) ?? 0) + 1)
      }
    }
    for (const [what, count] of skipped)
      console.log(`skipped: ${what}: ${count} ${count === 1 ? 'test' : 'tests'}`)
    console.log(`${passed} passed, ${failed} failed`)
  }
}
