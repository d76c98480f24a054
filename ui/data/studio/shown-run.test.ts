import { expect, it } from 'vitest'
import { isOther, noRun, withThread } from './shown-run.ts'

it('a gap, a run and a refusal of one thread are not shown for another one', () => {
  const shown = { thread: 'a', run: 'r', gap: true, refusal: 'no' }
  expect(withThread(shown, 'a')).toBe(shown)
  expect(withThread(shown, 'b')).toEqual(noRun('b'))
  expect(withThread(shown, undefined)).toEqual(noRun(undefined))
})

it('a run that makes the thread stays shown', () => {
  const shown = { ...noRun(undefined), run: 'r' }
  expect(withThread(shown, 'a')).toEqual({ ...shown, thread: 'a' })
  expect([isOther(undefined, 'a'), isOther('a', 'a'), isOther('a', 'b')]).toEqual([false, false, true])
})
