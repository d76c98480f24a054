import { describe, expect, it } from 'vitest'
import { isWithin } from './is-within.ts'

describe('whether a client sent a number', () => {
  it.each([
    ['a number', { tokens: 64 }],
    ['a number as text', { tokens: '64' }],
    ['a number in a text of JSON', { usage: '{"cached": 64}' }],
    ['a number in a text of Python', { usage: 'Usage(cached_tokens=64, tokens=7)' }],
  ])('%s is found', (_, sent) => {
    expect(isWithin(sent, 64)).toBe(true)
  })

  it.each([
    ['the beginning of an id of a span', { span_id: '64a1b2c3d4e5f607' }],
    ['the beginning of an id of digits and hyphens', { id: '64-1' }],
    ['the beginning of a greater number', { tokens: 641 }],
    ['the beginning of a fraction', { tokens: 64.5 }],
    ['the minute of a time', { at: '2026-01-01T21:64:00' }],
  ])('%s is not that number', (_, sent) => {
    expect(isWithin(sent, 64)).toBe(false)
  })
})

describe('whether a client sent a word', () => {
  it('is read in any case and in any text', () => {
    expect(isWithin({ model: 'GPT-4.1-mini' }, 'gpt-4.1')).toBe(true)
    expect(isWithin({ model: 'claude' }, 'gpt-4.1')).toBe(false)
  })
})
