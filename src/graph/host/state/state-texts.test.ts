import { describe, expect, it } from 'vitest'
import { createStateTexts } from './state-texts.ts'

describe('texts of states', () => {
  it('returns a text while its mark is the same', () => {
    const texts = createStateTexts(100)
    texts.set('a', 'one', 'text')
    expect(texts.get('a', 'one')).toBe('text')
    expect(texts.get('a', 'two')).toBeUndefined()
    texts.set('a', 'two', 'other')
    expect(texts.get('a', 'two')).toBe('other')
    expect(texts.get('b', 'one')).toBeUndefined()
  })

  it('keeps the texts that were requested last', () => {
    const texts = createStateTexts(10)
    texts.set('a', '', '1234')
    texts.set('b', '', '1234')
    texts.get('a', '')
    texts.set('c', '', '1234')
    expect(['a', 'b', 'c'].map((key) => texts.get(key, ''))).toEqual(['1234', undefined, '1234'])
    texts.set('d', '', '12345678901')
    expect(['a', 'b', 'c', 'd'].map((key) => texts.get(key, ''))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    texts.set('a', '', '1234567890')
    expect(texts.get('a', '')).toBe('1234567890')
  })
})
