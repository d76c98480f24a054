import { describe, expect, it } from 'vitest'
import { parsedJson, rawJson, toJsonText } from './raw-json.ts'

const VALUE = { a: [1, { b: 'x"y' }], é: null }
const raw = (): ReturnType<typeof rawJson> => rawJson(JSON.stringify(VALUE))

describe('a raw value', () => {
  it('is written into text unchanged, at any place', () => {
    const whole = { first: raw(), list: [raw(), 1, raw()], text: 's' }
    const same = { first: VALUE, list: [VALUE, 1, VALUE], text: 's' }
    expect(toJsonText(whole)).toBe(JSON.stringify(same))
    expect(toJsonText(raw())).toBe(JSON.stringify(VALUE))
    expect(toJsonText({ n: 1 })).toBe('{"n":1}')
  })

  it('may contain text that is not JSON: it is not parsed', () => {
    expect(toJsonText({ input: rawJson('{ never parsed') })).toBe('{"input":{ never parsed}')
  })

  it('behaves as the value itself for other code', () => {
    expect(JSON.parse(JSON.stringify({ input: raw() }))).toEqual({ input: VALUE })
    expect(parsedJson(raw())).toEqual(VALUE)
    expect(parsedJson(VALUE)).toBe(VALUE)
  })

  it('remains one when a text could not be made', () => {
    const cyclic: Record<string, unknown> = { raw: raw() }
    cyclic['self'] = cyclic
    expect(() => toJsonText(cyclic)).toThrow(/circular/)
    expect(JSON.stringify(raw())).toBe(JSON.stringify(VALUE))
  })
})
