import { expect, it } from 'vitest'
import { formatOf } from './output-format.ts'

const WORDS = ['table', 'json', 'csv'] as const

it.each([
  [{}, 'table'],
  [{ json: true }, 'json'],
  [{ format: 'json', json: true }, 'json'],
  [{ format: 'csv' }, 'csv'],
])('%j is %s', (flags, format) => expect(formatOf(flags, WORDS)).toBe(format))

it('refuses other words, and flags that contradict each other', () => {
  expect(() => formatOf({ format: 'xml' }, WORDS)).toThrow(
    '--format must be one of table, json, csv. It is "xml".',
  )
  expect(() => formatOf({ format: 'csv', json: true }, WORDS)).toThrow(
    'contradicts --format csv. Leave one of them out.',
  )
})
