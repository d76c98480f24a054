import { expect, it } from 'vitest'
import type { JsonObject } from '../../../../schema/json.ts'
import { mapSpan } from '../span.ts'

const CHAT = {
  'haystack.component.type': 'OpenAIChatGenerator',
  'haystack.component.fully_qualified_type': 'haystack.components.generators.chat.openai.OpenAIChatGenerator',
}

// Attributes as opentelemetry-haystack 2.0.0 sends them.
function map(attributes: JsonObject) {
  const ids = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: '00f067aa0ba902b7' }
  const empty = { resource: {}, events: [], status: { code: 0 }, logs: [] }
  const scope = { name: 'haystack' }
  const span = { ...ids, ...empty, name: 'haystack.component.run', kind: 1, scope, attributes }
  const start = Date.UTC(2026, 10, 23, 1, 35, 29) * 1000
  return mapSpan(span, { start, end: start + 1_000_000 })
}

const call = { tool_name: 'get_weather', arguments: { city: 'Paris' }, id: 'call_1', extra: null }
const usage = { prompt_tokens: 211, completion_tokens: 31, prompt_tokens_details: { cached_tokens: 64 } }

it('a generator is a call with the messages, the model, the provider and the counts of its answer', () => {
  const result = { result: '18 degrees', origin: call, error: false }
  const mapped = map({
    ...CHAT,
    'haystack.component.input': JSON.stringify({
      messages: [
        { role: 'user', meta: {}, name: null, content: [{ text: 'Weather in Paris?' }] },
        { role: 'assistant', meta: {}, name: null, content: [{ tool_call: call }] },
        { role: 'tool', meta: {}, name: null, content: [{ tool_call_result: result }] },
      ],
      tools: null,
    }),
    'haystack.component.output': JSON.stringify({
      replies: [
        {
          role: 'assistant',
          // The sender's local time, one hour ahead of UTC.
          meta: { model: 'gpt-4.1-mini', completion_start_time: '2026-11-23T02:35:29.250000', usage },
          content: [{ reasoning: { reasoning_text: 'hm' } }, { text: 'Sunny.' }],
        },
      ],
    }),
  })
  expect(mapped.run_type).toBe('llm')
  expect(mapped.metadata).toMatchObject({ ls_model_name: 'gpt-4.1-mini', ls_provider: 'openai' })
  const asked = { type: 'tool_call', id: 'call_1', name: 'get_weather', arguments: { city: 'Paris' } }
  const told = { type: 'tool_call_response', id: 'call_1', response: '18 degrees' }
  expect(mapped.inputs?.value).toEqual({
    messages: [
      { role: 'user', parts: [{ type: 'text', content: 'Weather in Paris?' }] },
      { role: 'assistant', parts: [asked] },
      { role: 'tool', parts: [told] },
    ],
  })
  const parts = [
    { type: 'reasoning', content: 'hm' },
    { type: 'text', content: 'Sunny.' },
  ]
  expect(mapped.outputs?.value).toEqual({ messages: [{ role: 'assistant', parts }] })
  expect(mapped.usage[0]?.reading.value).toMatchObject({
    input_tokens: 211,
    output_tokens: 31,
    input_token_details: { cache_read: 64 },
  })
  expect(mapped.first_token_time).toBe(Date.UTC(2026, 10, 23, 1, 35, 29, 250) * 1000)
})

it.each([
  ['OpenAITextEmbedder', 'embedding'],
  ['InMemoryBM25Retriever', 'retriever'],
  ['PromptBuilder', 'chain'],
])('%s is of type %s', (type, run_type) => {
  const mapped = map({ 'haystack.component.type': type, 'haystack.component.output': '{"prompt":"x"}' })
  expect(mapped.run_type).toBe(run_type)
  expect(mapped.outputs?.value).toEqual({ prompt: 'x' })
})

it('a generator without recorded content has its provider', () => {
  const { metadata, inputs, outputs, usage: found } = map(CHAT)
  expect(metadata).toMatchObject({ ls_provider: 'openai' })
  expect([inputs, outputs, found]).toEqual([undefined, undefined, []])
})
