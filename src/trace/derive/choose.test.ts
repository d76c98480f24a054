import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../schema/json.ts'
import { unwrappedValue } from './choose.ts'

describe('the value that is counted of a side in an unknown format', () => {
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
    expect(unwrappedValue('outputs', sent)).toEqual(counted)
  })

  it('is the argument of a call with one, and the whole object for several', () => {
    expect(unwrappedValue('inputs', { args: ['Hi'] })).toBe('Hi')
    expect(unwrappedValue('inputs', { args: ['Hi', 2] })).toEqual({ args: ['Hi', 2] })
    expect(unwrappedValue('inputs', { args: [] })).toEqual({ args: [] })
  })
})
