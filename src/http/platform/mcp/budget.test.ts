import { expect, it } from 'vitest'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonValue } from '../../../schema/json.ts'
import { atPointer, createTokenCounter, fitAnswer, fitJson } from './budget.ts'
import { charPage } from './run-tools.ts'

const count = createTokenCounter()

it('TRC-3: marks in a list that begins at an offset point into the whole list', () => {
  const list: JsonValue = Array.from({ length: 300 }, (_, i) => ({ text: `${i} ${'tea '.repeat(2000)}` }))
  const text = fitJson(list, { at: '/messages', offset: 250 }, 1000, count)
  expect(count(text)).toBeLessThanOrEqual(1000)
  const marks = [...text.matchAll(/ at \/messages(\/\S+?)"/g)].map(([, pointer]) => pointer!)
  expect(marks[0]).toBe('/250/text')
  for (const [i, pointer] of marks.entries())
    expect(atPointer(list, pointer)).toMatch(new RegExp(`^${250 + i} `))
  expect(text).toContain(`(+${50 - marks.length} items, from /messages/${250 + marks.length})`)
})

it('TRC-3: lines beyond the budget are counted', () => {
  const lines = Array.from({ length: 500 }, (_, i) => `step ${i}: gpt-4.1-mini → gpt-4.1`)
  const text = fitAnswer(lines, 200, count)
  expect(count(text)).toBeLessThanOrEqual(200)
  const shown = text.split('\n').length - 1
  expect(text).toContain(`… (+${500 - shown} lines; a larger max_tokens shows more)`)
  expect(fitAnswer(lines.slice(0, 3), 200, count)).toBe(lines.slice(0, 3).join('\n'))
})

it('TRC-2: an item that is longer than a page is cut to it', () => {
  const limits = { page_number: 2, max_chars_per_page: 2000, preview_chars: 150 }
  const long = { embedding: Array.from({ length: 100_000 }, () => '"') }
  const page = charPage('result', [{ role: 'user' }, long, { role: 'ai' }], limits)
  expect(page.length).toBeLessThan(2500)
  const { result, total_pages } = JSON.parse(page) as { result: string[]; total_pages: number }
  expect(total_pages).toBe(3)
  expect(result).toEqual([expect.stringMatching(/^\{"embedding":.*… \(\+\d+ chars\)$/)])
})

it('TRC-3: an integer beyond 2^53 keeps its digits', () => {
  const value = parseExact('{"id":12345678901234567891}')
  expect(fitJson(value, { at: '' }, 1000, count)).toBe('{\n "id": 12345678901234567891\n}')
})
