import { describe, expect, it } from 'vitest'
import type { AppError } from '../../base/errors.ts'
import {
  choiceParameter,
  flagParameter,
  integerParameter,
  type Parameter,
  readParameters,
  requiredTextParameter,
  textsParameter,
  uuidsParameter,
} from './parameters.ts'

const ID = '018f0000-0000-7000-8000-000000000001'

function read(parameter: Parameter<unknown>, ...values: string[]): unknown {
  try {
    return readParameters({ p: parameter }, 'query', () => values).p
  } catch (error) {
    return (error as AppError).details
  }
}

const faultOf = (type: string) => [expect.objectContaining({ loc: ['query', 'p'], type })]

describe('readParameters', () => {
  it('reads whole numbers within bounds, the last one sent', () => {
    const limit = integerParameter('', { minimum: 1, maximum: 100, otherwise: 10 })
    expect([read(limit), read(limit, ''), read(limit, '5', '7')]).toEqual([10, 10, 7])
    for (const bad of ['x', '1.5', '1e2', ' 1', '9'.repeat(400)])
      expect(read(limit, bad)).toEqual(faultOf('int_parsing'))
    expect(read(limit, '0')).toEqual(faultOf('greater_than_equal'))
    expect(read(limit, '101')).toEqual(faultOf('less_than_equal'))
  })

  it('reads flags and choices', () => {
    const flag = flagParameter('', false)
    expect(['true', '1', 'YES', 'false', '0', ''].map((value) => read(flag, value))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
    expect(read(flag, 'maybe')).toEqual(faultOf('bool_parsing'))
    const view = choiceParameter('', ['full', 'lean'])
    expect([read(view), read(view, 'lean'), read(view, 'fat')]).toEqual(['full', 'lean', faultOf('enum')])
  })

  it('reads lists repeated or with commas, and uuids in one spelling', () => {
    expect(read(textsParameter(''), 'a,b', 'c', '')).toEqual(['a', 'b', 'c'])
    expect(read(uuidsParameter(''), `${ID.toUpperCase()},${ID.replaceAll('-', '')}`)).toEqual([ID, ID])
    expect(read(uuidsParameter(''), 'x')).toEqual(faultOf('uuid_parsing'))
    expect(read(uuidsParameter('', 1))).toEqual(faultOf('missing'))
    expect(read(requiredTextParameter(''))).toEqual(faultOf('missing'))
  })
})
