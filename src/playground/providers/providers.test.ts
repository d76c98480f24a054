import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../schema/json.ts'
import type { Message } from '../../schema/types.gen.ts'
import { ModelAnswer } from '../answer.ts'
import { anthropic } from './anthropic.ts'
import { google } from './google.ts'
import { openai, openaiCompatible } from './openai.ts'
import type { ModelCall, Provider } from './provider.ts'

const CONVERSATION: Message[] = [
  { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is it?' },
      { type: 'image', base64: 'QQ==', mime_type: 'image/jpeg' },
    ],
  },
  { role: 'reasoning', content: [{ type: 'reasoning', text: 'hm' }] },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'look', extras: { signature: 'sig' } },
      { type: 'text', text: '' },
      { type: 'tool_call', id: 'a', name: 'look', args: { n: 1 } },
      { type: 'tool_call', id: 'b', name: 'list', args: {} },
    ],
  },
  { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'a cat' }] },
  { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: '{"found":2}' }] },
]
const CALL: ModelCall = {
  model: 'm-1',
  messages: CONVERSATION,
  tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }],
  tool_choice: 'required',
  output_schema: { type: 'object' },
  parameters: {
    temperature: 0,
    top_p: 0.5,
    max_tokens: 7,
    stop: ['END'],
    seed: 3,
    extra: { user: 'u', model: 'not this', stream: false },
  },
}
const bodyOf = (provider: Provider, call: Partial<ModelCall> = {}): JsonObject =>
  provider.toRequest({ ...CALL, ...call }, 'secret').body

describe('requests of the playground (N15)', () => {
  it('OpenAI: chat completions', () => {
    const request = openai.toRequest(CALL, 'secret')
    expect([request.path, request.headers]).toEqual(['/chat/completions', { authorization: 'Bearer secret' }])
    expect(request.body).toEqual({
      user: 'u',
      model: 'm-1',
      temperature: 0,
      top_p: 0.5,
      max_completion_tokens: 7,
      stop: ['END'],
      seed: 3,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,QQ==' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'look', arguments: '{"n":1}' } },
            { id: 'b', type: 'function', function: { name: 'list', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'a cat' },
        { role: 'tool', tool_call_id: 'b', content: '{"found":2}' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks', parameters: { type: 'object' } },
        },
      ],
      tool_choice: 'required',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(bodyOf(openaiCompatible)).toMatchObject({ max_tokens: 7 })
  })

  it('Anthropic: messages, with the results of both tools in one turn', () => {
    const request = anthropic.toRequest(CALL, 'secret')
    expect(request.headers).toEqual({ 'x-api-key': 'secret', 'anthropic-version': '2023-06-01' })
    expect(request.body).toMatchObject({
      user: 'u',
      model: 'm-1',
      max_tokens: 7,
      system: 'Be brief.',
      stop_sequences: ['END'],
      stream: true,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'QQ==' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'look', signature: 'sig' },
            { type: 'tool_use', id: 'a', name: 'look', input: { n: 1 } },
            { type: 'tool_use', id: 'b', name: 'list', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'a cat' },
            { type: 'tool_result', tool_use_id: 'b', content: '{"found":2}' },
          ],
        },
      ],
      tool_choice: { type: 'any' },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    })
    const { max_tokens: _none, ...unlimited } = CALL.parameters
    expect(bodyOf(anthropic, { parameters: { ...unlimited, max_tokens: undefined } })).toMatchObject({
      max_tokens: 4096,
    })
  })

  it('Gemini: contents, with results of tools by name', () => {
    const request = google.toRequest({ ...CALL, model: 'models/m-1' }, 'secret')
    expect(request.path).toBe('/models/m-1:streamGenerateContent?alt=sse')
    expect(request.headers).toEqual({ 'x-goog-api-key': 'secret' })
    expect(request.body).toMatchObject({
      contents: [
        {
          role: 'user',
          parts: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/jpeg', data: 'QQ==' } }],
        },
        {
          role: 'model',
          parts: [
            { text: '' },
            { functionCall: { name: 'look', args: { n: 1 } } },
            { functionCall: { name: 'list', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'look', response: { result: 'a cat' } } },
            { functionResponse: { name: 'list', response: { found: 2 } } },
          ],
        },
      ],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: {
        temperature: 0,
        topP: 0.5,
        maxOutputTokens: 7,
        responseMimeType: 'application/json',
      },
    })
  })

  it('names the one tool that must be called, and sends further fields that nothing else sets', () => {
    const call: Partial<ModelCall> = {
      tool_choice: { name: 'look' },
      output_schema: undefined,
      parameters: {
        ...CALL.parameters,
        temperature: undefined,
        extra: { response_format: { type: 'json_object' }, temperature: 0.4 },
      },
    }
    expect(bodyOf(openai, call)).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'look' } },
      response_format: { type: 'json_object' },
      temperature: 0.4,
    })
    expect(bodyOf(anthropic, call)).toMatchObject({ tool_choice: { type: 'tool', name: 'look' } })
    const generationConfig = { topK: 3, thinkingConfig: { thinkingBudget: 0 }, temperature: 1 }
    const gemini = bodyOf(google, {
      ...call,
      parameters: { ...CALL.parameters, extra: { generationConfig, safetySettings: [] } },
    })
    expect(gemini).toMatchObject({
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
      generationConfig: { topK: 3, thinkingConfig: { thinkingBudget: 0 }, temperature: 0 },
      safetySettings: [],
    })
    const effort = { ...CALL.parameters, extra: { output_config: { effort: 'low' } } }
    expect(bodyOf(anthropic, { parameters: effort })).toMatchObject({
      output_config: { effort: 'low', format: { type: 'json_schema' } },
    })
  })

  it.each([openai, anthropic, google])(
    '$name refuses content that it cannot take, with its place',
    (provider) => {
      const messages: Message[] = [
        { role: 'user', content: [] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'video', id: 'v' },
          ],
        },
      ]
      const fault = { code: 'invalid_request', details: [{ loc: ['body', 'messages', 1, 'content', 1] }] }
      expect(() => bodyOf(provider, { messages })).toThrow(
        expect.objectContaining({ ...fault, details: [expect.objectContaining(fault.details[0])] }),
      )
    },
  )
})

function answerOf(provider: Provider, events: readonly JsonObject[]): ModelAnswer {
  const answer = new ModelAnswer()
  for (const event of events) answer.add(provider.readEvent(event))
  return answer
}

describe('answers of the playground (N15)', () => {
  it('OpenAI: parallel tool calls arrive in pieces, reasoning as compatible servers send it', () => {
    const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
      choices: [{ delta, ...more }],
      model: 'm',
    })
    const call = (index: number, fields: JsonObject): JsonObject =>
      chunk({ tool_calls: [{ index, ...fields }] })
    const answer = answerOf(openai, [
      chunk({ reasoning_content: 'a' }),
      chunk({ reasoning: 'b' }),
      chunk({ content: 'hi' }),
      call(0, { id: 'x', function: { name: 'f', arguments: '{"a"' } }),
      call(1, { id: 'y', function: { name: 'g', arguments: 'broken' } }),
      call(0, { function: { arguments: ':1}' } }),
      chunk({}, { finish_reason: 'tool_calls' }),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    ])
    expect(answer.message.content).toEqual([
      { type: 'reasoning', text: 'ab' },
      { type: 'text', text: 'hi' },
      { type: 'tool_call', id: 'x', name: 'f', args: { a: 1 } },
      { type: 'tool_call', id: 'y', name: 'g', args: {}, extras: { args: 'broken' } },
    ])
    expect(answer).toMatchObject({ finish_reason: 'tool_calls', model: 'm' })
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 3, output_tokens: 2 })
  })

  it('Gemini: calls arrive whole, thoughts are reasoning, a blocked prompt is an error', () => {
    const parts = [
      { text: 'hm', thought: true },
      { functionCall: { name: 'f', args: { a: 1 } } },
      { functionCall: { name: 'f', args: { a: 2 } } },
    ]
    const answer = answerOf(google, [
      { candidates: [{ content: { parts } }] },
      { candidates: [{ finishReason: 'STOP' }] },
    ])
    expect(answer.message.content).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'tool_call', name: 'f', args: { a: 1 } },
      { type: 'tool_call', name: 'f', args: { a: 2 } },
    ])
    expect(google.readEvent({ promptFeedback: { blockReason: 'SAFETY' } }).error).toContain('SAFETY')
  })

  it.each([
    [openai, { error: { message: 'overloaded' } }],
    [anthropic, { type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } }],
    [google, { error: { code: 503, message: 'overloaded' } }],
  ])('an error within the stream of $name is read', (provider, event) => {
    expect(provider.readEvent(event as JsonObject).error).toBe('overloaded')
  })
})
