import { expect, it } from 'vitest'
import { foundParts } from './found-parts.ts'

const marked = (text: string, words: string[]): string =>
  foundParts(text, words)
    .map(({ text: piece, isFound }) => (isFound ? `[${piece}]` : piece))
    .join('')

it('the words that were searched are marked in a text, in any case and script', () => {
  expect(marked('The Box was empty', ['empty', 'box'])).toBe('The [Box] was [empty]')
  expect(marked('refundable refund', ['refund', 'refundable'])).toBe('[refundable] [refund]')
  expect(marked('a (b) c', ['(b)'])).toBe('a [(b)] c')
  expect(marked('日本語のテキスト', ['テキスト'])).toBe('日本語の[テキスト]')
  expect(marked('nothing here', ['box', ''])).toBe('nothing here')
  expect(marked('nothing here', [])).toBe('nothing here')
})

it('a word far from the beginning is brought into sight', () => {
  const text = `${'x'.repeat(100)} the box`
  expect(marked(text, ['box'])).toBe(`… ${'x'.repeat(19)} the [box]`)
})
