import { expect, it } from 'vitest'
import { executedLines } from './coverage.ts'

it('a line was executed if the innermost range around its first character was', () => {
  const text = 'const a = 1\nfunction never() {\n  return a\n}\nconst b = 2'
  const ranges = (startOffset: number, endOffset: number, count: number) => ({
    ranges: [{ startOffset, endOffset, count }],
  })
  const functions = [
    ranges(0, text.length, 1),
    ranges(text.indexOf('function'), text.indexOf('\nconst b'), 0),
  ]
  expect(executedLines(text, { functions })).toEqual([true, false, false, false, true])
})
