import { expect, it } from 'vitest'
import { containsJson } from '../storage/sql/driver/json-contains.ts'
import { parseExact } from './exact-json.ts'
import { rawJson, toJsonText } from './raw-json.ts'

it.each([
  '{"id":12345678901234567890,"list":[-9007199254740993,1]}',
  '9007199254740993',
  '{"digits":"12345678901234567890","n":1234567890123456}',
  '[123456789012345678901234567890123456789012345678901234567890]',
])('keeps %s', (text) => {
  expect(JSON.stringify(parseExact(text))).toBe(text)
  expect(toJsonText({ kept: parseExact(text) })).toBe(`{"kept":${text}}`)
})

it('leaves other values as JSON.parse makes them', () => {
  for (const text of ['{"a":[1.5e300,0.1234567890123456789,1e400],"b":null}', '"1234567890123456"', '[]'])
    expect(parseExact(text)).toEqual(JSON.parse(text))
  expect(() => parseExact('{"a":12345678901234567890')).toThrow(SyntaxError)
})

it('two integers are equal if their digits are, also after a clone', () => {
  const [one, other] = [parseExact('{"id":9007199254740993}'), parseExact('{"id":9007199254740992}')]
  expect(containsJson(one, structuredClone(one))).toBe(true)
  expect(containsJson(one, other)).toBe(false)
})

it('an integer reads as its digits, and compares and counts as the nearest number', () => {
  const { id } = parseExact('{"id":9007199254740993}') as { id: unknown }
  expect([String(id), Number(id), Number(id) > 1]).toEqual(['9007199254740993', 9007199254740992, true])
})

it('a text that is not parsed keeps its integers wherever it is put', () => {
  const text = '{"id":12345678901234567890}'
  expect(JSON.stringify({ kept: rawJson(text) })).toBe(`{"kept":${text}}`)
})
