import { expect, it } from 'vitest'
import { withoutProvider } from './model-name.ts'

it('a model is shown without the prefix that names its provider', () => {
  expect(withoutProvider('openai/gpt-4o', 'openai')).toBe('gpt-4o')
  expect(withoutProvider('gemini/gemini-2.5-pro', 'google')).toBe('gemini-2.5-pro')
  expect(withoutProvider('openai/gpt-4o', 'openrouter')).toBe('openai/gpt-4o')
  expect(withoutProvider('openai/gpt-4o', undefined)).toBe('openai/gpt-4o')
})
