import { describe, expect, it } from 'vitest'
import { isFramework, normalizeProvider, providerOfPrice, spellingsOf } from './provider-name.ts'

describe('one spelling a provider (D-15, N9)', () => {
  it.each([
    ['OpenAI', 'openai'],
    ['openai.chat', 'openai'],
    ['openai.responses', 'openai'],
    ['anthropic.messages', 'anthropic'],
    ['Ollama', 'ollama'],
    ['ollama_chat', 'ollama'],
    ['gemini', 'google'],
    ['gcp.vertex_ai', 'google'],
    ['azure-openai', 'azure'],
    ['azure.ai.openai', 'azure'],
    ['AWS', 'aws.bedrock'],
    ['amazon-bedrock', 'aws.bedrock'],
    ['x_ai', 'xai'],
    ['mistralai', 'mistral'],
    ['my_provider', 'my_provider'],
  ])('%s is %s', (sent, shown) => {
    expect(normalizeProvider(sent)).toBe(shown)
    expect(normalizeProvider(shown)).toBe(shown)
  })

  it('reads no framework as a provider', () => {
    expect(['strands-agents', 'LangChain', 'crewai'].every(isFramework)).toBe(true)
    expect(isFramework('openai')).toBe(false)
  })
})

it('the provider of a price is in its id', () => {
  expect(providerOfPrice('genai-prices:x-ai/grok-4@2026-01-01')).toBe('xai')
  expect(providerOfPrice('0195f3a0-0000-7000-8000-0000000000aa')).toBeUndefined()
})

it.each(['constructor', '__proto__', 'tostring'])('a provider called %s has no other spelling', (name) => {
  expect(spellingsOf(normalizeProvider(name))).toEqual([name])
})
