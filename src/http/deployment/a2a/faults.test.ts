import { expect, it } from 'vitest'
import { AppError } from '../../../base/errors.ts'
import { faultJson, toFault, toSentFault } from './faults.ts'

it('A2A-11: an error is an HTTP status before the answer begins, and -32603 in it', () => {
  for (const error of [new AppError('shutting_down'), new AppError('forbidden'), new TypeError('secret')]) {
    expect(() => toFault(error)).toThrow(error)
    const told = faultJson(toSentFault(error), '1.0')
    expect(told).toMatchObject({ code: -32603, data: [{ reason: 'INTERNAL' }] })
    expect(JSON.stringify(told)).not.toContain('secret')
  }
  const gone = new AppError('not_found')
  expect([toFault(gone).kind, toSentFault(gone).kind]).toEqual(['task_not_found', 'task_not_found'])
})
