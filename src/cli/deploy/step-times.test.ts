import { expect, it } from 'vitest'
import { secondsText, stepTimes } from './step-times.ts'

it('the steps of a revision add up to the time that the table of revisions shows', () => {
  const timings = { create: 140, build: 7_140, deploy: 2_350, start: 2_040, check: 210 }
  const { steps, total } = stepTimes(timings)
  expect(steps).toEqual({ read: 0.1, built: 7.1, started: 2, checked: 0.3 })
  expect(secondsText(total)).toBe('9.5 s')
})

it('a revision that failed has the steps that it reached', () => {
  expect(stepTimes({})).toEqual({ steps: {}, total: 0 })
  expect(stepTimes({ create: 100, build: 950 })).toEqual({ steps: { read: 0.1, built: 1 }, total: 1.1 })
  expect(stepTimes({ create: 100, deploy: 400 })).toEqual({ steps: { read: 0.1, started: 0.4 }, total: 0.5 })
})
