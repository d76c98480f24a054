import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../../test/support/cpu-bound.ts'
import { parseLiteral } from './python-literal.ts'
import { tries } from '../../../../test/support/properties.ts'
import { someInShort } from '../../../../test/support/length.ts'

describe('parseLiteral', () => {
  it.each([
    ["{'audio': 0, 'cache_read': 5}", { audio: 0, cache_read: 5 }],
    [
      `{'a': None, "b": True, 'c': [False, 1.5, -2e3,], 'd': (1, 'x')}`,
      { a: null, b: true, c: [false, 1.5, -2000], d: [1, 'x'] },
    ],
    [
      String.raw`['it\'s', "a \"b\"", 'tab\there', '\x41\u00e9', 'back\\slash', '\q']`,
      ["it's", 'a "b"', 'tab\there', 'Aé', 'back\\slash', '\\q'],
    ],
    ['{"a": NaN}', { a: null }],
    [' {"a": 1}', { a: 1 }],
    ['"quoted"', 'quoted'],
    ['{}', {}],
  ])('reads %s', (text, value) => {
    expect(parseLiteral(text)).toEqual(value)
  })

  it.each([
    '',
    'plain',
    '42',
    'true',
    '{foo} bar',
    "{'a': open",
    "{'a': Decimal('1')}",
    '"open',
    '{a: 1}',
    "{'a': \\}",
  ])('does not change %j', (text) => {
    expect(parseLiteral(text)).toBeUndefined()
  })

  it('reads JSON as JSON.parse does, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(fc.json()), fc.string()), (value) => {
        const text = typeof value === 'string' ? value : `[${value.join()}]`
        const read = parseLiteral(text)
        if (typeof value !== 'string') expect(read).toEqual(JSON.parse(text))
      }),
      tries(),
    )
  })

  it.each(someInShort(["{'", '{,', "{'a'", '{ ', "{'\\", '[[', '{"a"'], 3))(
    'takes a long text of %j in linear time',
    (piece) => {
      expectCpuBelow(1, () => parseLiteral(piece + piece.slice(1).repeat(200_000)))
    },
  )
})
