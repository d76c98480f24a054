import type { Reporter, TestModule } from 'vitest/node'

/**
 * Prints the last line of every test command: `N passed, N failed`. A file that does not load and an
 * unhandled error count as failed, so that the line never looks better than the exit code.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0
    let failed = unhandledErrors.length
    for (const module of modules) {
      if (module.errors().length > 0) failed += 1
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed += 1
        else if (state === 'failed') failed += 1
      }
    }
    console.log(`${passed} passed, ${failed} failed`)
  }
}
