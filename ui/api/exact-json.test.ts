import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExactNumber, parseExact } from './exact-json.ts'
import { tries } from '../../test/support/properties.ts'
import { exactText } from '../parts/json/json-text.ts'

describe('JSON with exact numbers', () => {
  it('keeps integers beyond 2^53 and decimals as they were sent', () => {
    const parsed = parseExact('{"id":12345678901234567890,"cost":0.10,"n":5,"e":1.04e-05}') as Record<
      string,
      unknown
    >
    expect(parsed['id']).toEqual(new ExactNumber('12345678901234567890'))
    expect(String(parsed['cost'])).toBe('0.10')
    expect(parsed['n']).toBe(5)
    expect(String(parsed['e'])).toBe('1.04e-05')
  })

  it('writes what it read', () => {
    const text = '{"a":[12345678901234567890,1.50,"x\\n\\u0000",null,true,{}],"b":{"__proto__":1}}'
    expect(exactText(parseExact(text), 0)).toBe(text)
    expect(JSON.parse(exactText(parseExact(text)))).toEqual(JSON.parse(text))
  })

  it('keeps every number whose text JavaScript would write otherwise, and no other', () => {
    const digits = fc.stringMatching(/^(?:0|[1-9]\d{0,20})$/)
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        digits,
        fc.stringMatching(/^(?:\.\d{1,20})?$/),
        fc.stringMatching(/^(?:[eE][+-]?\d{1,2})?$/),
      )
      .map((parts) => parts.join(''))
    const wrap = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `[${text}]`,
      (text) => `{"a": ${text}}`,
      (text) => `{"a":[1,\n${text}]}`,
    )
    fc.assert(
      fc.property(number, wrap, (text, put) => {
        expect(exactText(parseExact(put(text)), 0)).toBe(put(text).replace(/[\s]/g, ''))
      }),
      tries(300),
    )
  })
})
