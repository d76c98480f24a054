import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { REPLY, WEATHER_CALL } from '../../../support/servers/vendors/fake-vendor.ts'
import {
  askWeather,
  expectOnlyLlmsCounted,
  greetInStream,
  llmsOf,
  useInstrumentedApp,
} from './instrumented-app.ts'
import {
  ALL_BUT_USAGE,
  ALL_OK,
  HELLO,
  text,
  WEATHER_TOOLS,
  weatherCalls,
} from '../../../conformance/traces/vendor-calls.ts'
import { LONG_MS } from '../../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describe("OpenInference's OpenAI instrumentation", () => {
  const app = useInstrumentedApp()
  const instrumentation = new OpenAIInstrumentation()
  const called = {
    name: 'OpenAI Chat Completions',
    run_type: 'llm',
    status: 'success',
    first_token_time: null,
    llm: {
      provider: 'openai',
      model: 'gpt-4.1-mini',
      model_source: 'metadata.ls_model_name',
      input_format: 'openinference',
      output_format: 'openinference',
      messages: {
        input: [
          { role: 'system', content: text('You are a helpful assistant.') },
          { role: 'user', content: text('Hi there') },
        ],
        output: [{ role: 'assistant', content: text(REPLY) }],
      },
    },
  }

  beforeAll(() => {
    instrumentation.setTracerProvider(app().provider)
    instrumentation.manuallyInstrument(OpenAI)
  })
  afterAll(() => instrumentation.disable())

  it('one answer', async () => {
    const trace = await app().trace(2, () =>
      app().openai.chat.completions.create({ model: 'gpt-4.1-mini', messages: HELLO }),
    )
    expect(trace.root).toMatchObject({ name: 'app', run_type: 'chain', parent_run_id: null })
    const [llm] = llmsOf(trace)
    expect(llm).toMatchObject({ ...called, parent_run_id: trace.root!.id })
    expect(llm!.llm).toMatchObject({
      usage_metadata: {
        input_tokens: 25,
        output_tokens: 9,
        total_tokens: 34,
        input_token_details: { cache_read: 10 },
      },
      usage_source: { input: 'client', output: 'client' },
      checks: ALL_OK,
      issues: [],
    })
    expectOnlyLlmsCounted(trace)
  })

  it('a stream: it sends no counts, so they are estimated', async () => {
    const trace = await app().trace(2, () => greetInStream(app()))
    const [llm] = llmsOf(trace)
    expect(llm).toMatchObject(called)
    expect(llm!.llm).toMatchObject({
      usage_metadata: { input_tokens: 19, output_tokens: 9, total_tokens: 28 },
      usage_source: { input: 'estimate', output: 'estimate' },
      time_to_first_token_ms: null,
      checks: ALL_BUT_USAGE,
    })
    expectOnlyLlmsCounted(trace)
  })

  it.each([false, true])('tools, and the answer to their result (stream: %s)', async (stream) => {
    const trace = await app().trace(3, () => askWeather(app(), stream))
    const llms = llmsOf(trace)
    const checks = stream ? ALL_BUT_USAGE : ALL_OK
    expect(llms.map(({ llm }) => llm)).toMatchObject(weatherCalls(checks))
    for (const { extra } of llms) expect(extra['invocation_params']).toMatchObject({ tools: WEATHER_TOOLS })
    if (!stream) expect(trace.totals).toMatchObject({ prompt_tokens: 107, completion_tokens: 26 })
    expectOnlyLlmsCounted(trace)
  })

  it.each([false, true])('the Responses API (stream: %s)', async (stream) => {
    const trace = await app().trace(2, async () => {
      const answer = await app().openai.responses.create({
        model: 'gpt-4.1-mini',
        instructions: 'You are a helpful assistant.',
        input: 'Hi there',
        stream,
      })
      if (Symbol.asyncIterator in answer) for await (const _ of answer);
    })
    const [llm] = llmsOf(trace)
    expect(llm).toMatchObject({ ...called, name: 'OpenAI Responses', parent_run_id: trace.root!.id })
    expect(llm!.llm).toMatchObject({
      usage_metadata: {
        input_tokens: 25,
        output_tokens: 9,
        total_tokens: 34,
        input_token_details: { cache_read: 10 },
      },
      usage_source: { input: 'client', output: 'client' },
      checks: ALL_OK,
    })
    expectOnlyLlmsCounted(trace)
  })

  it.each([false, true])('a tool call of the Responses API (stream: %s)', async (stream) => {
    const { id, name, args } = WEATHER_CALL
    const trace = await app().trace(3, async () => {
      const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name, parameters: {}, strict: false }]
      const asked: OpenAI.Responses.ResponseInputItem = { role: 'user', content: 'Weather in Paris?' }
      const rounds: OpenAI.Responses.ResponseInputItem[][] = [
        [asked],
        [
          asked,
          { type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) },
          { type: 'function_call_output', call_id: id, output: '18 degrees, sunny' },
        ],
      ]
      for (const input of rounds) {
        const answer = await app().openai.responses.create({ model: 'gpt-4.1', tools, input, stream })
        if (Symbol.asyncIterator in answer) for await (const _ of answer);
      }
    })
    expect(llmsOf(trace).map(({ llm }) => llm)).toMatchObject(weatherCalls(ALL_OK))
    expectOnlyLlmsCounted(trace)
  })

  it('embeddings', async () => {
    const trace = await app().trace(2, () =>
      app().openai.embeddings.create({ model: 'text-embedding-3-small', input: 'Hi there' }),
    )
    const embedding = trace.runs.find(({ run_type }) => run_type === 'embedding')
    expect(embedding).toMatchObject({
      parent_run_id: trace.root!.id,
      llm: { provider: 'openai', model: 'text-embedding-3-small' },
    })
  })
})
