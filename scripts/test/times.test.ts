import { expect, it } from 'vitest'
import { withTimes } from './times.ts'

it('times of files that ran replace the kept ones, and those of deleted files go', () => {
  const kept = { short: { 'a.test.ts': 9, 'gone.test.ts': 3 }, long: { 'a.test.ts': 50 } }
  const ran = {
    file: 'a.test.ts',
    project: 'shared',
    ms: 1_240,
    slowestMs: 9,
    passed: 1,
    skipped: [],
    failed: [],
  }
  expect(withTimes(kept, [ran], (file) => file !== 'gone.test.ts')).toEqual({
    short: { 'a.test.ts': 1.2 },
    long: { 'a.test.ts': 50 },
  })
})
