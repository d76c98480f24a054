import { expect, it } from 'vitest'
import { parseSize, sizeText } from './byte-size.ts'

it.each([
  [4 * 1024 ** 3, '4GiB'],
  [200 * 1024 ** 2, '200MiB'],
  [1536, '1536'],
  [0, '0'],
])('%i is %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
  expect(parseSize(text)).toBe(bytes)
})

it.each([
  ['1.5 KB', 1500],
  ['2m', 2e6],
  ['-1', undefined],
  ['5 apples', undefined],
])('%s is read as %s', (text, bytes) => expect(parseSize(text)).toBe(bytes))
