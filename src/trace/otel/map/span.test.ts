import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../../test/support/cpu-bound.ts'
import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import { mapSpan } from './span.ts'
import type { OtelSpan } from '../span/span.ts'
import { tries } from '../../../../test/support/properties.ts'

const START = Date.UTC(2026, 0, 15, 10) * 1000
const TIMES = { start: START, end: START + 1_500_000 }

function span(attributes: JsonObject, rest: Partial<OtelSpan> = {}): OtelSpan {
  return {
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    span_id: '00f067aa0ba902b7',
    name: 'span',
    kind: 3,
    scope: {},
    resource: {},
    attributes,
    events: [],
    status: { code: 0 },
    logs: [],
    ...rest,
  }
}

const map = (attributes: JsonObject, rest: Partial<OtelSpan> = {}) => mapSpan(span(attributes, rest), TIMES)

describe('the run type', () => {
  it.each([
    [{ 'langsmith.span.kind': 'Retriever', 'gen_ai.operation.name': 'embeddings' }, 'retriever'],
    [{ 'langsmith.span.kind': 'nonsense', 'gen_ai.operation.name': 'chat' }, 'llm'],
    [{ 'ai.operationId': 'ai.streamText.doStream' }, 'llm'],
    [{ 'ai.operationId': 'ai.streamText', 'openinference.span.kind': 'LLM' }, 'chain'],
    [{ 'ai.operationId': 'ai.embedMany.doEmbed' }, 'embedding'],
    [{ 'ai.operationId': 'ai.toolCall' }, 'tool'],
    [{ 'gen_ai.operation.name': 'embeddings' }, 'embedding'],
    [{ 'gen_ai.operation.name': 'text_completion' }, 'llm'],
    [{ 'gen_ai.operation.name': 'retrieval' }, 'retriever'],
    [{ 'gen_ai.operation.name': 'invoke_workflow' }, 'chain'],
    [{ 'llm.request.type': 'rerank' }, 'retriever'],
    [{ 'openinference.span.kind': 'GUARDRAIL' }, 'chain'],
    [{ 'traceloop.span.kind': 'tool' }, 'tool'],
    [{ 'gen_ai.tool.name': 'x' }, 'tool'],
    [{ 'llm.prompt_template.variables': '{}' }, 'prompt'],
    [{ 'gen_ai.request.model': 'm' }, 'chain'],
    [{ 'gen_ai.request.model': 'm', 'gen_ai.prompt.0.content': 'Hi' }, 'llm'],
    [{}, 'chain'],
  ])('of %j is %s', (attributes: JsonObject, expected) => {
    expect(map(attributes).run_type).toBe(expected)
  })
})

describe('errors', () => {
  const exception = { 'exception.message': 'Boom', 'exception.type': 'Error', 'exception.stacktrace': 'at x' }
  const event = { name: 'exception', time: '2026-01-15T10:00:00Z', attributes: exception }

  it.each([
    ['an exception', {}, { events: [event], status: { code: 1 } }, 'Boom\n\nat x'],
    ['the status', {}, { status: { code: 2, message: 'Bad' } }, 'Bad'],
    ['a bare error status', {}, { status: { code: 2 } }, 'error'],
    ['the error type', { 'error.type': 'timeout' }, {}, 'timeout'],
    ['nothing', {}, { status: { code: 1, message: 'fine' } }, undefined],
  ])('come from %s', (_what, attributes, rest: Partial<OtelSpan>, expected) => {
    expect(map(attributes, rest).error).toBe(expected)
  })
})

describe('the first token', () => {
  const llm = { 'gen_ai.operation.name': 'chat' }
  const after = (attributes: JsonObject, rest: Partial<OtelSpan> = {}) => {
    const { first_token_time: time } = map({ ...llm, ...attributes }, rest)
    return time === undefined ? undefined : (time - START) / 1000
  }
  const event = (name: string, time: string) => ({ name, time, attributes: {} })

  it('is read from seconds, then milliseconds, then events', () => {
    const events = [
      event('new_token', '2026-01-15T10:00:00.300Z'),
      event('new_token', '2026-01-15T10:00:00.200Z'),
    ]
    expect(after({}, { events })).toBe(200)
    expect(after({ 'ai.response.msToFirstChunk': 152.4929 }, { events })).toBe(152.493)
    expect(after({ 'ai.response.msToFirstChunk': 9, 'gen_ai.response.time_to_first_chunk': 0.35 })).toBe(350)
    const metric = 'gen_ai.client.operation.time_to_first_chunk'
    expect(after({ [metric]: 0.0725 })).toBe(72.5)
    expect(after({ [metric]: 0.0725, 'gen_ai.response.time_to_first_chunk': 0.35 })).toBe(350)
  })

  it('is the end if a delay of another clock is slightly longer than the span', () => {
    expect(after({ 'gen_ai.response.time_to_first_chunk': 1.52 })).toBe(1500)
    expect(after({ 'gen_ai.response.time_to_first_chunk': 1.6 })).toBeUndefined()
  })

  it('is unknown if the sent time is outside of the span, and without a sent time', () => {
    expect(after({})).toBeUndefined()
    const outside = map({
      ...llm,
      'gen_ai.response.time_to_first_chunk': -1,
      'ai.stream.msToFirstChunk': 9999,
    })
    expect(outside.first_token_time).toBeUndefined()
    expect(outside.issues.map(({ code }) => code)).toContain('new_token_outside_run')
  })

  it('D-16: is unknown, with an issue, if its event has no time', () => {
    const untimed = event('new_token', '')
    const alone = map(llm, { events: [untimed] })
    expect(alone.first_token_time).toBeUndefined()
    expect(alone.issues).toContainEqual(
      expect.objectContaining({
        code: 'new_token_without_time',
        path: 'extra.otel_span.events[0].time',
      }),
    )
    const timed = map(llm, { events: [untimed, event('new_token', '2026-01-15T10:00:00.200Z')] })
    expect(timed.issues.map(({ code }) => code)).not.toContain('new_token_without_time')
  })
})

describe('the response id', () => {
  const id = 'msg_01XFDUDYJgAACzvnptvVoYEL'
  const ofOutput = (value: JsonObject, key = 'output.value') =>
    map({ 'gen_ai.operation.name': 'chat', [key]: JSON.stringify(value) }).response_id

  it.each<JsonObject>([
    { choices: [] },
    { content: [{ type: 'text', text: 'Hi' }] },
    { output: [] },
    { candidates: [] },
  ])('is the id of a vendor’s answer with %j', (shape) => {
    expect(ofOutput({ id, ...shape })).toBe(id)
    expect(ofOutput({ id, ...shape }, 'mlflow.spanOutputs')).toBe(id)
  })

  it.each<JsonObject>([
    {},
    { reason: 'It arrived late.' },
    { content: 'It arrived late.' },
    { order: { choices: [] } },
  ])('is not the id in an answer of the model itself with %j', (answer) => {
    expect(ofOutput({ id: 'refund-the-customer', ...answer })).toBeUndefined()
  })
})

it.each(['agent_run', 'model_step', 'workflow_run'])('the sides of a step of Mastra are read: %s', (type) => {
  const { run_type, inputs, outputs } = map({
    'gen_ai.operation.name': type,
    'mastra.span.type': type,
    [`mastra.${type}.input`]: 'Hi there',
    [`mastra.${type}.output`]: '{"text":"Hello!","files":[]}',
  })
  expect([run_type, inputs?.value, outputs?.value]).toEqual([
    'chain',
    { input: 'Hi there' },
    { text: 'Hello!', files: [] },
  ])
})

describe('metadata', () => {
  it('has the model from the parameters of the call if nothing else names it', () => {
    const llm = { 'gen_ai.operation.name': 'chat' }
    const params = { ...llm, 'llm.invocation_parameters': '{"model": "gpt-4.1", "temperature": 0}' }
    expect(map(params).metadata['ls_model_name']).toBe('gpt-4.1')
    expect(map({ ...params, 'llm.model_name': 'gpt-4.1-2025' }).metadata['ls_model_name']).toBe(
      'gpt-4.1-2025',
    )
    expect(map({ ...llm, 'llm.invocation_parameters': '[1' }).metadata).not.toHaveProperty('ls_model_name')
  })

  it.each<[string, JsonObject]>([
    ['its own attribute', { model: '"gpt-4.1"', 'gen_ai.request.model': 'gpt-4o' }],
    ['the conventions’ attribute', { 'gen_ai.request.model': 'gpt-4.1' }],
    ['the conventions’ attribute as MLflow writes it', { 'gen_ai.request.model': '"gpt-4.1"' }],
    ['the answer’s attribute, where its own is null', { model: 'null', 'gen_ai.response.model': 'gpt-4.1' }],
    ['the parameters of the call', { 'llm.invocation_parameters': '{"model": "gpt-4.1"}' }],
  ])('has the model of a span of MLflow from %s', (_, attributes) => {
    const mapped = map({ 'mlflow.spanType': '"CHAT_MODEL"', ...attributes })
    expect(mapped.metadata['ls_model_name']).toBe('gpt-4.1')
  })

  it('has the sender’s own entries first, then those of attributes, then those of the resource', () => {
    const mapped = map(
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.system': 'other',
        'gen_ai.response.model': 'gpt-4o-2024-08-06',
        'gen_ai.request.model': 'gpt-4o',
        'langsmith.metadata.team': 'a',
        'traceloop.association.properties.team': 'b',
        'session.id': 's',
        'user.id': 'u',
      },
      { resource: { 'service.name': 'svc', team: 'c' } },
    )
    expect(Object.entries(mapped.metadata)).toEqual([
      ['team', 'a'],
      ['ls_provider', 'openai'],
      ['ls_model_name', 'gpt-4o'],
      ['session_id', 's'],
      ['user_id', 'u'],
      ['OTEL_TRACE_ID', '0af7651916cd43dd8448eb211c80319c'],
      ['OTEL_SPAN_ID', '00f067aa0ba902b7'],
      ['service.name', 'svc'],
    ])
  })

  it.each([
    ['openai.BadRequestError', 'openai'],
    ['anthropic.RateLimitError', 'anthropic'],
    ['google.genai.errors.ClientError', 'google'],
    ['builtins.ValueError', undefined],
    ['ValueError', undefined],
  ])('a call that failed with %s is of %s if nothing else names a provider', (type, provider) => {
    const failed = { name: 'exception', time: '', attributes: { 'exception.type': type } }
    const { metadata } = map({ 'openinference.span.kind': 'LLM' }, { events: [failed] })
    expect(metadata['ls_provider']).toBe(provider)
    const named = map({ 'openinference.span.kind': 'LLM', 'llm.provider': 'groq' }, { events: [failed] })
    expect(named.metadata['ls_provider']).toBe('groq')
  })

  it('D-54: reads ids that are integers as text', () => {
    const { metadata } = map({ 'session.id': 42, 'gen_ai.conversation.id': 7, 'user.id': 3 })
    expect(metadata).toMatchObject({ session_id: '42', conversation_id: '7', user_id: '3' })
  })

  it('keeps a thread that the sender named, and reads no framework as a provider', () => {
    const { metadata } = map({
      'langsmith.span.kind': 'llm',
      'gen_ai.system': 'langchain',
      'llm.provider': 'anthropic',
      metadata: '{"thread_id":"t"}',
      'session.id': 's',
      'gen_ai.conversation.id': 'c',
    })
    expect(metadata).toMatchObject({ thread_id: 't', ls_provider: 'anthropic' })
    expect(metadata).not.toHaveProperty('session_id')
  })
})

const NAMES = (
  'gen_ai.operation.name gen_ai.prompt gen_ai.completion gen_ai.prompt.0.role gen_ai.prompt.0.content ' +
  'gen_ai.completion.0.tool_calls.0.name gen_ai.input.messages gen_ai.output.messages gen_ai.system_instructions ' +
  'gen_ai.usage.input_tokens gen_ai.usage.output_tokens gen_ai.usage.input_token_details langsmith.usage_metadata ' +
  'langsmith.span.kind langsmith.span.tags tag.tags metadata events request_data response_data input.value ' +
  'output.value llm.input_messages llm.input_messages.0.message.contents.0.message_content.type ' +
  'llm.tools.0.tool.json_schema retrieval.documents.0.document.metadata openinference.span.kind ai.operationId ' +
  'ai.prompt.messages ai.prompt ai.response.toolCalls ai.response.providerMetadata ai.values __proto__ ' +
  'gcp.vertex.agent.llm_request gcp.vertex.agent.llm_response genkit:input langsmith.metadata.__proto__'
).split(' ')

const anyValue = fc.oneof(
  fc.constantFrom<JsonValue>(
    'llm',
    'chat',
    'RETRIEVER',
    'ai.x.doGenerate',
    '{"messages":[{"role":"user"}]}',
    '[{}]',
  ),
  fc.jsonValue({ maxDepth: 4 }),
  fc.json({ maxDepth: 4 }),
)
const anyAttributes = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), anyValue), { maxLength: 12 })
  .map((entries) => Object.fromEntries(entries) as JsonObject)
const anyEvent = fc.record({
  name: fc.constantFrom(
    'gen_ai.user.message',
    'gen_ai.choice',
    'gen_ai.content.prompt',
    'exception',
    'new_token',
  ),
  time: fc.constantFrom('2026-01-15T10:00:00.100Z', '', 'x'),
  attributes: fc
    .array(
      fc.tuple(
        fc.constantFrom('content', 'message', 'gen_ai.event.content', 'tool_calls.0.id', 'id'),
        anyValue,
      ),
    )
    .map((entries) => Object.fromEntries(entries) as JsonObject),
})

describe('any span', () => {
  it('maps to objects, is not changed, and gives the same again', () => {
    fc.assert(
      fc.property(
        anyAttributes,
        fc.array(anyEvent, { maxLength: 4 }),
        anyValue,
        (attributes, events, body) => {
          const sent = span(attributes, { events, logs: events.map((event) => ({ ...event, body })) })
          const before = JSON.stringify(sent)
          const mapped = mapSpan(sent, TIMES)
          for (const side of [mapped.inputs, mapped.outputs])
            if (side) expect(Array.isArray(side.value) || typeof side.value !== 'object').toBe(false)
          expect(JSON.stringify(mapSpan(sent, TIMES), bigintText)).toBe(JSON.stringify(mapped, bigintText))
          expect(JSON.stringify(sent)).toBe(before)
        },
      ),
      tries(800),
    )
    expect('polluted' in {}).toBe(false)
  })

  it('with 10,000 attributes and events maps in well under a second', () => {
    const attributes: JsonObject = { 'gen_ai.operation.name': 'chat' }
    for (let i = 0; i < 10_000; i++) {
      attributes[`gen_ai.prompt.${i % 3000}.tool_calls.${i}.name`] = 'x'
      attributes[`langsmith.metadata.k${i}`] = '{"a":1}'
      attributes[`x.${'y.'.repeat(20)}${i}`] = i
    }
    const events = Array.from({ length: 10_000 }, () => ({
      name: 'gen_ai.user.message',
      time: '2026-01-15T10:00:00Z',
      attributes: { content: 'x' },
    }))
    const logs = events.map((event) => ({ ...event, body: { content: 'x' } }))
    expectCpuBelow(1, () => map(attributes, { events, logs }))
  })
})

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
