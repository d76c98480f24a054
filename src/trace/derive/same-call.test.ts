import { expect, it } from 'vitest'
import { callIdOf, NO_CALL, REQUEST, UNANSWERED } from './same-call.ts'

const call = { response_id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG', model: 'gpt-4o', part: 'call' } as const

it('LLM-12: response id and model make the call id, with any version of the model’s name', () => {
  expect(callIdOf(call, false)).toBeGreaterThan(NO_CALL)
  expect(callIdOf({ ...call, model: 'gpt-4o-2024-08-06' }, false)).toBe(callIdOf(call, false))
  expect(callIdOf({ ...call, model: 'gpt-4.1' }, false)).not.toBe(callIdOf(call, false))
  expect(callIdOf({ ...call, part: 'step' }, false)).toBe(NO_CALL)
  expect(callIdOf({ ...call, part: 'request' }, false)).toBe(REQUEST)
})

it.each([undefined, 'chatcmpl-42', 'chatcmpl-998', 'fifteen-letters'])(
  'LLM-12: the response id %s is too short to be unique and makes no call id',
  (response_id) => {
    expect(callIdOf({ ...call, response_id }, false)).toBe(0)
  },
)

it('the model alone makes the call id of a call without a response', () => {
  const failed = callIdOf({ ...call, response_id: undefined }, true)
  expect(failed).toBeGreaterThanOrEqual(UNANSWERED)
  expect(Number.isSafeInteger(failed)).toBe(true)
  expect(callIdOf({ ...call, response_id: undefined, model: 'gpt-4o-2024-08-06' }, true)).toBe(failed)
  expect(callIdOf({ ...call, response_id: undefined, model: undefined }, true)).toBe(0)
})
