import { expect, it } from 'vitest'
import { baseModel, withoutProvider } from './model-name.ts'

it('a model is shown without the prefix that names its provider', () => {
  expect(withoutProvider('openai/gpt-4o', 'openai')).toBe('gpt-4o')
  expect(withoutProvider('gemini/gemini-2.5-pro', 'google')).toBe('gemini-2.5-pro')
  expect(withoutProvider('openai/gpt-4o', 'openrouter')).toBe('openai/gpt-4o')
  expect(withoutProvider('openai/gpt-4o', undefined)).toBe('openai/gpt-4o')
})

it.each([
  ['gpt-4.1-mini-2025-04-14', 'gpt-4.1-mini'],
  ['gpt-4.1-mini', 'gpt-4.1-mini'],
  ['claude-opus-5@20260501', 'claude-opus-5'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
  ['gemini-2.0-flash-001', 'gemini-2.0-flash'],
  ['mistral-large-latest', 'mistral-large'],
  ['gpt-4-0613', 'gpt-4'],
  ['llama3.2:3b', 'llama3.2:3b'],
  ['meta-llama/Llama-3.3-70B-Instruct', 'meta-llama/llama-3.3-70b-instruct'],
  ['', ''],
])('the base model of %j is %j', (model, base) => {
  expect(baseModel(model)).toBe(base)
})
