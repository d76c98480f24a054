import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { REPLY } from '../../../support/servers/vendors/fake-vendor.ts'
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

describe("OpenLLMetry's OpenAI instrumentation", () => {
  const app = useInstrumentedApp()
  const instrumentation = new OpenAIInstrumentation({ exceptionLogger: console.error })
  const called = {
    run_type: 'llm',
    status: 'success',
    first_token_time: null,
    llm: {
      provider: 'openai',
      model: 'gpt-4.1-mini',
      model_source: 'metadata.ls_model_name',
      input_format: 'otel-genai',
      output_format: 'otel-genai',
      messages: {
        input: [
          { role: 'system', content: text('You are a helpful assistant.') },
          { role: 'user', content: text('Hi there') },
        ],
        output: [{ role: 'assistant', content: text(REPLY) }],
      },
    },
  }
  const counted = {
    usage_metadata: { input_tokens: 25, output_tokens: 9, total_tokens: 34 },
    usage_source: { input: 'client', output: 'client' },
    checks: ALL_OK,
    issues: [],
  }

  beforeAll(() => {
    instrumentation.setTracerProvider(app().provider)
    instrumentation.manuallyInstrument(OpenAI)
  })
  afterAll(() => instrumentation.disable())

  it('one answer', async () => {
    const trace = await app().trace(2, () =>
      app().openai.chat.completions.create({ model: 'gpt-4.1-mini', messages: HELLO, temperature: 0.5 }),
    )
    expect(trace.root).toMatchObject({ name: 'app', run_type: 'chain', parent_run_id: null })
    const [llm] = llmsOf(trace)
    expect(llm).toMatchObject({ ...called, name: 'chat gpt-4.1-mini', parent_run_id: trace.root!.id })
    expect(llm!.llm).toMatchObject(counted)
    expect(llm!.extra['invocation_params']).toMatchObject({ temperature: 0.5 })
    expectOnlyLlmsCounted(trace)
  })

  it('a stream: it sends no counts, so they are estimated', async () => {
    const trace = await app().trace(2, () => greetInStream(app()))
    const [llm] = llmsOf(trace)
    expect(llm).toMatchObject({ ...called, parent_run_id: trace.root!.id })
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

  it('the Responses API', async () => {
    const trace = await app().trace(2, () =>
      app().openai.responses.create({ model: 'gpt-4.1-mini', input: 'Hi there' }),
    )
    const [llm] = llmsOf(trace)
    const messages = {
      input: [{ role: 'user', content: text('Hi there') }],
      output: [{ role: 'assistant', content: text(REPLY) }],
    }
    expect(llm).toMatchObject({ ...called, parent_run_id: trace.root!.id, llm: { ...called.llm, messages } })
    expect(llm!.llm).toMatchObject(counted)
    expectOnlyLlmsCounted(trace)
  })

  it('a stream of the Responses API: it sends the question only', async () => {
    const trace = await app().trace(2, async () => {
      const stream = await app().openai.responses.create({
        model: 'gpt-4.1-mini',
        input: 'Hi there',
        stream: true,
      })
      for await (const _ of stream);
    })
    const [llm] = llmsOf(trace)
    expect(llm).toMatchObject({ parent_run_id: trace.root!.id, outputs: null })
    expect(llm!.llm).toMatchObject({
      provider: 'openai',
      model: 'gpt-4.1-mini',
      messages: { input: [{ role: 'user', content: text('Hi there') }], output: [] },
      checks: ALL_BUT_USAGE,
    })
  })
})
