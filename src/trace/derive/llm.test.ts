import { describe, expect, it } from 'vitest'
import { builtInProcessors } from '../../../processors/index.ts'
import { requestHead } from '../../../test/support/traces/wire-body.ts'
import type { JsonValue } from '../../schema/json.ts'
import { decodeRequest } from '../decode/decode.ts'
import { deriveTraceRun } from './derive.ts'
import { createEstimates } from '../tokens/estimator.ts'
import { readFragments } from '../rows/fragment.ts'
import type { LlmFacts, TraceRun } from './trace-run.ts'
import { createTokenizer } from '../tokens/tokenizer.ts'

const context = {
  processors: builtInProcessors,
  startEstimate: createEstimates(createTokenizer()),
  parentOf: () => undefined,
}

/** Derives the facts of an ended llm TraceRun with these fields. */
function llmOf(fields: object): LlmFacts {
  return traceRunOf(fields).llm!
}

function traceRunOf(fields: object): TraceRun {
  const record = {
    id: '01a1f83d-5201-7000-8000-00000000000a',
    name: 'call',
    run_type: 'llm',
    start_time: '2026-11-20T09:00:00Z',
    end_time: '2026-11-20T09:00:01Z',
    ...fields,
  }
  const { rows } = decodeRequest(requestHead({ kind: 'create' }), Buffer.from(JSON.stringify(record)))
  return deriveTraceRun([...readFragments(rows)], context)
}

describe('outputs that are bare text', () => {
  it.each<[string, JsonValue, string]>([
    ['alone', 'Four.', 'Four.'],
    ['as Python wraps it', { output: 'Four.' }, 'Four.'],
    ['as JavaScript wraps it', { outputs: 'Four.' }, 'Four.'],
    ['in pieces of a stream', { outputs: ['Fo', 'ur', '.'] }, 'Four.'],
  ])('LLM-2: are shown as an assistant message, %s, and do not meet the format', (_, outputs, said) => {
    const { output_messages, output_format, checks } = llmOf({ outputs })
    expect(output_messages).toEqual([{ role: 'assistant', content: [{ type: 'text', text: said }] }])
    expect(output_format).toBeUndefined()
    expect(checks.format).toMatchObject({ ok: false, reason: expect.stringContaining('"role": "assistant"') })
  })

  it.each<[string, JsonValue]>([
    ['no text', { output: 4 }],
    ['text beside other things', { output: 'Four.', score: 1 }],
    ['nothing', { output: '' }],
  ])('LLM-2: are not %s', (_, outputs) => {
    const { output_messages, checks } = llmOf({ outputs })
    expect(output_messages).toEqual([])
    expect(checks.format.reason).toBe('outputs are in no recognised format')
  })
})

describe('a model name that is a path', () => {
  it('LLM-3: gives the last segment as the model, and the provider in the path', () => {
    const path = 'projects/p/locations/l/publishers/google/models/gemini-2.5-flash'
    const { model, model_source, provider, checks } = llmOf({ extra: { metadata: { ls_model_name: path } } })
    expect({ model, model_source, provider }).toEqual({
      model: 'gemini-2.5-flash',
      model_source: 'metadata.ls_model_name',
      provider: 'google',
    })
    expect(checks.model).toMatchObject({ ok: false, reason: 'metadata has no ls_provider' })
  })

  it.each([
    ['meta-llama/Llama-3.3-70B-Instruct', 'meta-llama/Llama-3.3-70B-Instruct', undefined],
    ['models/my-tune', 'my-tune', undefined],
    ['arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc', undefined, undefined],
  ])('LLM-3: %s is %s', (sent, model, provider) => {
    expect(llmOf({ inputs: { model: sent } })).toMatchObject({ model: model ?? sent, provider })
  })
})

describe('the requested service tier', () => {
  const usage = { input_tokens: 9, output_tokens: 2, total_tokens: 11 }
  const outputs = { role: 'assistant', content: 'Four.', usage_metadata: usage }
  const inputs = { messages: [{ role: 'user', content: 'Two and two?' }] }
  const invocation = { service_tier: 'flex' }

  it.each<[string, object]>([
    ['the parameters of the call', { invocation_params: invocation }],
    ['parameters that clients put into the metadata', { metadata: { ls_invocation_params: invocation } }],
  ])('is read from %s', (_, extra) => {
    expect(traceRunOf({ inputs, outputs, extra }).usage.input_token_details).toEqual({ flex: 9 })
  })

  it('is not read from other metadata, such as a tier that LangGraph copies from configurable', () => {
    for (const extra of [{ metadata: invocation }, invocation]) {
      const { usage: counted } = traceRunOf({ inputs, outputs, extra })
      expect(counted.input_token_details).toEqual({})
    }
  })
})

describe('a call that failed', () => {
  const refusal = 'RateLimitError("Error code: 429 - slow down")Traceback'
  const inputs = { messages: [{ role: 'user', content: 'Two and two?' }] }
  const nothing = { input: null, output: null }
  const estimated = { input: 'estimate', output: 'estimate' }
  const emptyMessage = {
    lc: 1,
    type: 'constructor',
    id: ['langchain', 'schema', 'messages', 'AIMessage'],
    kwargs: { content: '', type: 'ai', tool_calls: [] },
  }
  const emptyGeneration = { generations: [[{ text: '', message: emptyMessage }]], llm_output: null }
  const newToken = { name: 'new_token', time: '2026-11-20T09:00:00.200Z', kwargs: { token: 'Fo' } }

  it.each<[string, JsonValue | undefined]>([
    ['no outputs', undefined],
    ['null as Python wraps it', { output: null }],
    ['an empty list as Python wraps a stream', { output: [] }],
    ['an empty message of LangChain', emptyGeneration],
    ['no message of LangChain', { generations: [[]], llm_output: null }],
  ])('LLM-5, D-60: gets no estimate if the vendor refused it, with %s', (_, outputs) => {
    expect(traceRunOf({ inputs, outputs, error: refusal }).usage.source).toEqual(nothing)
  })

  it.each<[string, JsonValue | undefined]>([
    ['null as Python wraps it', { output: null }],
    ['an empty message of LangChain', emptyGeneration],
  ])('LLM-5: has 0 output tokens if it failed in another way, with %s', (_, outputs) => {
    const { usage } = traceRunOf({ inputs, outputs, error: 'ValueError: boom' })
    expect(usage).toMatchObject({ output_tokens: 0, source: estimated })
  })

  it.each<[string, object]>([
    ['text came', { outputs: { output: 'Fo' } }],
    ['a message came', { outputs: { role: 'assistant', content: 'Fo' } }],
    [
      'a call of a tool came',
      {
        outputs: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } }],
        },
      },
    ],
    ['its first token came', { events: [newToken] }],
    ['its first token came at an unknown time', { events: [{ ...newToken, time: undefined }] }],
    ['its first token came, with empty outputs', { events: [newToken], outputs: emptyGeneration }],
  ])('LLM-5: keeps its estimates if %s before the vendor broke it off', (_, fields) => {
    expect(traceRunOf({ inputs, error: refusal, ...fields }).usage.source).toEqual(estimated)
  })
})

describe('messages whose parts are of several formats', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
  const image = { type: 'image', base64: 'AAAA', mime_type: 'image/png' }
  const said = (role: string, ...content: JsonValue[]): JsonValue => ({ role, content })

  it.each<[string, JsonValue[]]>([
    ['a data block of LangChain', [said('user', { ...image, source_type: 'base64' })]],
    ['reasoning of LangChain', [said('assistant', { type: 'reasoning', reasoning: 'so' })]],
    ['parts of the Responses API', [said('user', { type: 'input_text', text: 'hi' })]],
    ['pairs of role and content', [['user', 'hi'] as JsonValue]],
    ['a developer beside an image', [{ role: 'developer', content: 'd' }, said('user', image)]],
    [
      'a cached text beside a call of another vendor',
      [
        said('user', { type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }),
        said('assistant', { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {} }),
      ],
    ],
  ])('LLM-2: are recognised: %s', (_, messages) => {
    const { checks, input_messages } = llmOf({ inputs: { messages } })
    expect(checks.format).toEqual({ ok: true })
    expect(input_messages).toHaveLength(messages.length)
    expect(JSON.stringify(input_messages)).not.toContain('unread')
  })

  it('LLM-2: are checked as LangChain-style with tool calls listed in the form of OpenAI', () => {
    const text = { type: 'text', text: 'r' }
    const messages = [
      said('user', image),
      { role: 'assistant', content: [], tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: [text] },
    ]
    const { checks, input_format, input_messages } = llmOf({ inputs: { messages } })
    expect({ format: checks.format, input_format }).toEqual({
      format: { ok: true },
      input_format: 'langchain-style',
    })
    expect(input_messages[1]!.content).toEqual([{ type: 'tool_call', args: { a: 1 }, name: 'f', id: 'c' }])
    const unknown = [...messages.slice(0, 2), { role: 'tool', tool_call_id: 'x', content: [text] }]
    expect(llmOf({ inputs: { messages: unknown } }).checks.format.ok).toBe(false)
  })
})

describe('the estimate of an embedding without counts', () => {
  it.each<[string, JsonValue]>([
    ['OpenAI', { model: 'text-embedding-3-small', input: 'Hi there', encoding_format: 'float' }],
    ['OpenAI, a list', { model: 'text-embedding-3-small', input: ['Hi there'] }],
    ['Cohere', { texts: ['Hi there'], input_type: 'search_query' }],
    ['Gemini', { model: 'm', contents: ['Hi there'] }],
    ['Vertex', { instances: [{ content: 'Hi there' }] }],
    ['Titan', { inputText: 'Hi there' }],
    ['the AI SDK', { values: ['Hi there'] }],
    ['LangChain', { query: 'Hi there' }],
    ['OpenInference', { text: 'Hi there' }],
    ['a call in JavaScript', { args: ['Hi there', { cache: true }] }],
    ['bare text', { input: 'Hi there' }],
  ])('counts the embedded text only, as %s sends it', (_, inputs) => {
    const { usage } = traceRunOf({ run_type: 'embedding', inputs })
    expect(usage).toMatchObject({ input_tokens: 2, source: { input: 'estimate', output: null } })
  })
})

describe('the first token', () => {
  const events = [{ name: 'new_token', time: '2026-11-20T09:00:00.350Z' }]

  it('is known from an event with a time', () => {
    const { first_token_time: first, start_time } = traceRunOf({ events })
    expect(first! - start_time).toBe(350_000)
  })

  it('is unknown without a start, for which the receive time stands', () => {
    const { first_token_time, issues } = traceRunOf({ events, start_time: null })
    expect(first_token_time).toBeUndefined()
    expect(issues.map(({ code }) => code)).toContain('start_time_missing')
  })
})

describe('the outputs of a failed call', () => {
  const inputs = { messages: [{ role: 'user', content: 'hi' }] }
  const usage_metadata = { input_tokens: 5, output_tokens: 0 }

  it.each<JsonValue>([null, {}, { output: null }, { outputs: '' }, { usage_metadata }])(
    'LLM-2: are not judged if they hold no answer: %j',
    (outputs) => {
      expect(llmOf({ inputs, outputs, error: 'boom' }).checks.format).toEqual({ ok: true })
    },
  )

  it('LLM-2: are judged if they hold one, and those of a call that succeeded always', () => {
    expect(llmOf({ inputs, outputs: { output: 5 }, error: 'boom' }).checks.format.ok).toBe(false)
    expect(llmOf({ inputs, outputs: { usage_metadata } }).checks.format.ok).toBe(false)
  })
})

describe('a call whose payload the client hides', () => {
  it('LLM-5: has no estimate of what was hidden, and no cost of it', () => {
    const { usage } = traceRunOf({ inputs: {}, outputs: {} })
    expect(usage).toMatchObject({ source: { input: null, output: null } })
    expect([usage.input_tokens, usage.output_tokens, usage.total_cost]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    const inputs = { messages: [{ role: 'user', content: 'hi' }] }
    expect(traceRunOf({ inputs, outputs: {} }).usage.source).toEqual({ input: 'estimate', output: null })
    expect(traceRunOf({ inputs, outputs: {}, error: 'boom' }).usage).toMatchObject({ output_tokens: 0 })
  })
})

describe('a stream of Bedrock', () => {
  it('LLM-2: is folded to the message that its events build', () => {
    const delta = (contentBlockIndex: number, more: object) => ({
      contentBlockDelta: { contentBlockIndex, delta: more },
    })
    const toolUse = { toolUseId: 't', name: 'f' }
    const events = [
      { messageStart: { role: 'assistant' } },
      delta(0, { reasoningContent: { text: 'Hm' } }),
      delta(1, { text: 'Hel' }),
      delta(1, { text: 'lo' }),
      { contentBlockStart: { contentBlockIndex: 2, start: { toolUse } } },
      delta(2, { toolUse: { input: '{"a":' } }),
      delta(2, { toolUse: { input: '1}' } }),
      { messageStop: { stopReason: 'tool_use' } },
      { metadata: { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } } },
    ]
    const { llm, usage } = traceRunOf({ outputs: { output: events } })
    expect(llm).toMatchObject({ output_format: 'bedrock-converse', checks: { format: { ok: true } } })
    expect(llm!.output_messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm' },
          { type: 'text', text: 'Hello' },
          { type: 'tool_call', args: { a: 1 }, name: 'f', id: 't' },
        ],
      },
    ])
    expect(usage).toMatchObject({ input_tokens: 3, output_tokens: 4 })
  })
})

describe('the thread', () => {
  it.each<[JsonValue, string | undefined]>([
    ['t', 't'],
    [42, '42'],
    [4.2, undefined],
    ['', undefined],
    [{ a: 1 }, undefined],
  ])('D-54: %j in the metadata is %s', (session_id, thread) => {
    expect(traceRunOf({ extra: { metadata: { session_id } } }).thread_id).toBe(thread)
  })
})

describe('a provider and a model that are blank', () => {
  it('LLM-3: are none', () => {
    const { provider, model, checks } = llmOf({
      inputs: { model: 'gpt-4.1' },
      extra: { metadata: { ls_provider: ' ', ls_model_name: '\t' } },
    })
    expect({ provider, model }).toEqual({ provider: undefined, model: 'gpt-4.1' })
    expect(checks.model.reason).toMatch(/no ls_provider and no ls_model_name/)
  })
})

describe('usage_metadata of a client', () => {
  const counts = { input_tokens: 3, output_tokens: 4 }
  const said = { role: 'assistant', content: 'x' }
  const metadata = { ls_provider: 'openai', ls_model_name: 'gpt-4.1' }

  it.each<[string, object]>([
    ['on the output', { outputs: { ...said, usage_metadata: counts } }],
    ['as JSON text', { outputs: { ...said, usage_metadata: JSON.stringify(counts) } }],
    [
      'on the message of a choice',
      { outputs: { choices: [{ message: { ...said, usage_metadata: counts } }] } },
    ],
    ['in the metadata', { outputs: said, extra: { metadata: { ...metadata, usage_metadata: counts } } }],
    ['on the run itself', { outputs: said, usage_metadata: counts }],
    ['in extra', { outputs: said, extra: { metadata, usage_metadata: counts } }],
  ])('LLM-4: counts %s', (_, fields) => {
    const { usage, llm } = traceRunOf(fields)
    expect(usage).toMatchObject({ ...counts, source: { input: 'client', output: 'client' } })
    expect(llm!.checks.usage).toEqual({ ok: true })
  })

  it('LLM-4: is added up over the chunks of a LangChain stream, which are one message', () => {
    const chunk = (content: string, usage_metadata: JsonValue = null): JsonValue => ({
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', 'AIMessageChunk'],
      kwargs: { content, id: 'run-1', usage_metadata },
    })
    const first = chunk('', { input_tokens: 10, output_tokens: 0, total_tokens: 10 })
    const last = chunk('', { input_tokens: 0, output_tokens: 7, total_tokens: 7 })
    const pieces = Array.from({ length: 20 }, () => chunk('a'))
    const { usage, llm } = traceRunOf({ outputs: { outputs: [first, ...pieces, last] } })
    expect(usage).toMatchObject({ input_tokens: 10, output_tokens: 7 })
    expect(llm!.output_messages).toMatchObject([{ content: [{ type: 'text', text: 'a'.repeat(20) }] }])
  })

  it.each<[JsonValue, string]>([
    [[3, 4], 'outputs.usage_metadata'],
    ['3 tokens', 'outputs.usage_metadata'],
    [7, 'outputs.usage_metadata'],
    [{ input_token_details: { cache_read: 5 } }, 'outputs.usage_metadata.input_token_details.cache_read'],
  ])('U7: is named by an issue if nothing in it is counted: %j', (usage_metadata, path) => {
    const { usage, issues } = traceRunOf({ outputs: { ...said, usage_metadata } })
    expect(usage.source.output).toBe('estimate')
    expect(issues).toContainEqual(expect.objectContaining({ code: 'usage_unread', path }))
  })

  it('U7: needs no issue if it is absent', () => {
    for (const usage_metadata of [null, '', {}])
      expect(traceRunOf({ outputs: { ...said, usage_metadata } }).issues).toEqual([])
  })
})
