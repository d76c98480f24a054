import { describe, expect, it } from 'vitest'
import { parseLooseJson } from './loose-json.ts'

describe('parseLooseJson', () => {
  it.each([
    ['{"a":1}', { a: 1 }, false],
    ['\ufeff{"a":1}', { a: 1 }, false],
    ['{"a":NaN}', { a: null }, true],
    ['\ufeff[-Infinity]', [null], true],
  ])('reads %j, and says whether it had bare NaN or Infinity', (text, value, repaired) => {
    expect(parseLooseJson(Buffer.from(text))).toEqual({ value, ok: true, repaired })
  })
})
