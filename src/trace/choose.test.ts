import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../schema/json.ts'
import { bareValue } from './choose.ts'

describe('what is counted of a side in no known format', () => {
  it.each<[string, JsonValue, JsonValue]>([
    ['text that a client wrapped', { outputs: 'Sure' }, 'Sure'],
    ['text that was wrapped twice', { output: { outputs: 'Sure' } }, 'Sure'],
    [
      'all of it where more than the wrapping is there',
      { output: 'Sure', also: 1 },
      { output: 'Sure', also: 1 },
    ],
    ['all of it where nothing is wrapped', { text: 'Sure' }, { text: 'Sure' }],
    ['a text as it is', 'Sure', 'Sure'],
  ])('is %s', (_name, sent, counted) => {
    expect(bareValue('outputs', sent)).toEqual(counted)
  })

  it('is the only argument of a call, but all of several', () => {
    expect(bareValue('inputs', { args: ['Hi'] })).toBe('Hi')
    expect(bareValue('inputs', { args: ['Hi', 2] })).toEqual({ args: ['Hi', 2] })
    expect(bareValue('inputs', { args: [] })).toEqual({ args: [] })
  })
})
