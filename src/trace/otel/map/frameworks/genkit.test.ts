import { expect, it } from 'vitest'
import type { JsonObject } from '../../../../schema/json.ts'
import { mapSpan } from '../span.ts'
import { reportedUsage } from '../../../tokens/usage/usage.ts'
import { genkitUsage } from './genkit.ts'
import { type SpanView, viewSpan } from '../../span/view.ts'

// A view of attributes in the form of Genkit 1.42.0, with usage objects of its plugins.
function view(attributes: JsonObject): SpanView {
  const ids = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: '00f067aa0ba902b7' }
  const scope = { name: 'genkit-tracer', version: 'v1' }
  const empty = { resource: {}, events: [], status: { code: 0 }, logs: [] }
  return viewSpan({ ...ids, ...empty, name: 'openai/gpt-4.1-mini', kind: 1, scope, attributes })
}

const answer = (more: object) => ({
  'genkit:output': JSON.stringify({ message: { role: 'model', content: [{ text: 'Hello!' }] }, ...more }),
})
const openai = {
  prompt_tokens: 127,
  completion_tokens: 43,
  total_tokens: 170,
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 16 },
}
const gemini = {
  promptTokenCount: 127,
  cachedContentTokenCount: 64,
  candidatesTokenCount: 27,
  thoughtsTokenCount: 16,
  totalTokenCount: 170,
}
const anthropic = {
  input_tokens: 31,
  cache_read_input_tokens: 64,
  cache_creation_input_tokens: 32,
  output_tokens: 43,
}

it.each([
  ['of OpenAI', { inputTokens: 127, outputTokens: 43, totalTokens: 170 }, { usage: openai }],
  [
    'of Gemini, whose output excludes thoughts',
    { inputTokens: 127, outputTokens: 27, totalTokens: 170 },
    { usageMetadata: gemini },
  ],
  [
    'of Anthropic, whose input excludes the cache',
    { inputTokens: 31, outputTokens: 43 },
    { usage: anthropic },
  ],
])('counts of an answer of Genkit are those of the answer beside them: %s', (_, usage, vendors) => {
  for (const key of ['raw', 'custom'])
    expect(wholeCounts(answer({ usage, [key]: vendors }))).toMatchObject({
      input_tokens: 127,
      output_tokens: 43,
      input_token_details: { cache_read: 64 },
    })
})

function wholeCounts(attributes: JsonObject) {
  return reportedUsage(undefined, {}, [], { run_type: 'llm' }, [genkitUsage(view(attributes))!])
}

it('counts of an answer of Genkit are its own if the answer beside them differs or is missing', () => {
  const usage = {
    inputTokens: 9,
    outputTokens: 4,
    totalTokens: 14,
    thoughtsTokens: 1,
    cachedContentTokens: 2,
  }
  const own = {
    input_tokens: 9,
    output_tokens: 4,
    total_tokens: 14,
    input_token_details: { cache_read: 2 },
    output_token_details: { reasoning: 1 },
  }
  expect(genkitUsage(view(answer({ usage, raw: { usage: openai } })))?.reading.value).toEqual(own)
  expect(genkitUsage(view(answer({ usage })))?.reading.value).toEqual(own)
  for (const none of [answer({}), answer({ usage: {} }), { 'genkit:output': '"text"' }, {}])
    expect(genkitUsage(view(none))).toBeUndefined()
})

it('the provider of a model of Genkit is the plugin in its name', () => {
  const providerOf = (name: string) =>
    mapSpan(view({ 'genkit:metadata:subtype': 'model', 'genkit:name': name }).span, {
      start: undefined,
      end: undefined,
    }).metadata['ls_provider']
  expect(providerOf('openai/gpt-4.1-mini')).toBe('openai')
  expect(providerOf('googleai/gemini-2.5-flash')).toBe('googleai')
  expect(providerOf('generate')).toBeUndefined()
})
