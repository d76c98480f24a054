import { describe, expect, it } from 'vitest'
import { tokenModelFor } from './token-model.ts'

const O200K = [
  'gpt-4o',
  'gpt-4o-mini-2024-07-18',
  'chatgpt-4o-latest',
  'gpt-4.1',
  'gpt-4.5-preview',
  'gpt-5',
  'gpt-5.1',
  'gpt-5-codex',
  'o1',
  'o1-mini',
  'o3-pro',
  'o4-mini-2025-04-16',
  'codex-mini-latest',
  'computer-use-preview',
  'gpt-4o-realtime-preview',
  'openai/gpt-4o',
  'OpenAI:GPT-4o',
  'azure/gpt-4.1',
  'ft:gpt-4o-mini-2024-07-18:acme::abc123',
]
const CL100K = [
  'gpt-4',
  'gpt-4-0613',
  'gpt-4-turbo',
  'gpt-4-1106-preview',
  'gpt-4-32k',
  'gpt-3.5-turbo',
  'gpt-3.5-turbo-16k-0613',
  'gpt-35-turbo',
  'openai/gpt-4-turbo',
  'azure_openai:gpt-4',
  'ft:gpt-3.5-turbo-0125:acme:name:id',
]

describe('tokenModelFor', () => {
  it.each(O200K)('%s is an OpenAI chat model in o200k', (model) => {
    expect(tokenModelFor(model)).toEqual({ encoding: 'o200k_base', family: 'openai', factor: 1, exact: true })
  })

  it.each(CL100K)('%s is an OpenAI chat model in cl100k', (model) => {
    expect(tokenModelFor(model)).toEqual({
      encoding: 'cl100k_base',
      family: 'openai',
      factor: 1,
      exact: true,
    })
  })

  it.each([
    ['gpt-3.5-turbo-instruct', 'cl100k_base'],
    ['gpt-3.5-turbo-instruct-0914', 'cl100k_base'],
    ['davinci-002', 'cl100k_base'],
    ['babbage-002', 'cl100k_base'],
    ['text-embedding-3-small', 'cl100k_base'],
    ['text-embedding-ada-002', 'cl100k_base'],
    ['text-davinci-003', 'p50k_base'],
    ['code-davinci-002', 'p50k_base'],
    ['text-davinci-edit-001', 'p50k_edit'],
    ['text-davinci-001', 'r50k_base'],
    ['davinci', 'r50k_base'],
    ['ada', 'r50k_base'],
    ['text-search-ada-doc-001', 'r50k_base'],
    ['text-similarity-curie-001', 'r50k_base'],
    ['gpt2', 'gpt2'],
  ])('%s has no chat overhead and counts in %s', (model, encoding) => {
    expect(tokenModelFor(model)).toMatchObject({ encoding, family: 'openai-completion', exact: true })
  })

  it.each([
    ['claude-sonnet-4-20250514', 'anthropic'],
    ['claude-3-5-sonnet@20240620', 'anthropic'],
    ['us.anthropic.claude-3-5-sonnet-20240620-v1:0', 'anthropic'],
    ['anthropic/claude-opus-4.1', 'anthropic'],
    ['arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5', 'anthropic'],
    ['models/gemini-2.0-flash', 'gemini'],
    ['publishers/google/models/gemini-1.5-pro', 'gemini'],
    ['amazon.nova-pro-v1:0', 'other'],
    ['meta-llama/Llama-3.1-70B', 'other'],
    ['adaptive-1', 'other'],
    ['my_model', 'other'],
  ])('%s is of family %s and never exact', (model, family) => {
    expect(tokenModelFor(model)).toMatchObject({ encoding: 'o200k_base', family, exact: false })
  })

  it('expects more tokens from the newer tokenizer of Anthropic', () => {
    const older = tokenModelFor('claude-opus-4-6').factor
    for (const model of ['claude-opus-4-7', 'claude-opus-4.8', 'claude-sonnet-5', 'claude-opus-5-5']) {
      expect(tokenModelFor(model).factor).toBeGreaterThan(older)
    }
    for (const model of ['claude-sonnet-4-5', 'claude-opus-4-20250514', 'claude-3-7-sonnet']) {
      expect(tokenModelFor(model).factor).toBe(older)
    }
  })

  it('uses the provider if the name is unknown', () => {
    expect(tokenModelFor('prod-deployment', 'azure')).toMatchObject({ family: 'openai', exact: false })
    expect(tokenModelFor(undefined, 'anthropic').family).toBe('anthropic')
    expect(tokenModelFor('tuned-1', 'google_vertexai').family).toBe('gemini')
    expect(tokenModelFor(undefined)).toEqual({
      encoding: 'o200k_base',
      family: 'other',
      factor: 1,
      exact: false,
    })
    expect(tokenModelFor('x'.repeat(100_000), 'y').family).toBe('other')
  })
})
