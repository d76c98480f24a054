import { describe, expect, it } from 'vitest'
import type { FileResult } from './results.ts'
import { failedCount, summaryLines, withRerun } from './results.ts'

function fileOf(file: string, failed: FileResult['failed'], passed = 1): FileResult {
  return { file, project: 'shared', ms: 10, slowestMs: 5, passed, skipped: [], failed }
}

const FAILED = {
  test: 'stream > resumes',
  error: 'AssertionError: expected 1 to be 2\n    at stream.test.ts:3',
}

describe('a file that failed and ran again', () => {
  const first = { files: [fileOf('stream.test.ts', [FAILED]), fileOf('other.test.ts', [])], unhandled: [] }

  it('counts as passed if it passes alone, and the line `flaky` names its test', () => {
    const again = { files: [fileOf('stream.test.ts', [], 2)], unhandled: [] }
    const { result, flaky } = withRerun(first, again)
    expect(summaryLines(result, flaky)).toEqual([
      'flaky: stream.test.ts › stream > resumes',
      '3 passed, 0 failed',
    ])
  })

  it('is red if it fails again, with the first error of each failed test before the last line', () => {
    const { result, flaky } = withRerun(first, { files: [fileOf('stream.test.ts', [FAILED])], unhandled: [] })
    expect(summaryLines(result, flaky)).toEqual([
      'failed: stream.test.ts › stream > resumes\n  AssertionError: expected 1 to be 2\n      at stream.test.ts:3',
      '2 passed, 1 failed',
    ])
  })

  it('takes errors outside of its own tests with it, and no others', () => {
    const again = { files: [fileOf('stream.test.ts', [], 2)], unhandled: [] }
    const left = (file?: string): string[] =>
      summaryLines(withRerun({ ...first, unhandled: [{ file, error: 'Error: late' }] }, again).result, [])
    expect(left('stream.test.ts')).toEqual(['3 passed, 0 failed'])
    expect(left('other.test.ts')[0]).toBe('failed outside of a test: other.test.ts\n  Error: late')
    expect(left().at(-1)).toBe('3 passed, 1 failed')
    const late = { ...again, unhandled: [{ file: 'stream.test.ts', error: 'Error: late' }] }
    expect(failedCount(withRerun(first, late).result)).toBe(1)
  })

  it('counts each skipped test with its title, which has the reason', () => {
    const skipped = { ...fileOf('a.test.ts', []), skipped: [{ what: 'a.test.ts > without Redis', count: 2 }] }
    expect(summaryLines({ files: [skipped], unhandled: [] }, [])).toEqual([
      'skipped: a.test.ts > without Redis: 2 tests',
      '1 passed, 0 failed',
    ])
  })
})
