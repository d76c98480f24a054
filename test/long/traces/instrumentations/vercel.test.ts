import { createOpenAI } from '@ai-sdk/openai'
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel'
import { embed, generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import {
  BROKEN_MODEL,
  REPLY,
  WEATHER_CALL,
  WEATHER_REPLY,
} from '../../../support/servers/vendors/fake-vendor.ts'
import type { ReadTrace } from '../../../conformance/traces/corpus/facts.ts'
import { expectOnlyLlmsCounted, llmsOf, useInstrumentedApp } from './instrumented-app.ts'
import { ALL_OK, expectFirstToken, text, WEATHER_BLOCK } from '../../../conformance/traces/vendor-calls.ts'

/**
 * Both kinds of telemetry of the SDK: with OpenTelemetry's conventions, and with the `ai.*` attributes of all earlier
 * versions.
 */
const TELEMETRIES = [
  {
    name: 'its spans by the GenAI conventions',
    Integration: OpenTelemetry,
    format: 'otel-genai',
    agent: 'invoke_agent gpt-4.1',
    generate: 'chat gpt-4.1',
    stream: 'chat gpt-4.1',
    /** Number of chains besides the application's: the call, and each of its steps. */
    chains: (steps: number) => 1 + steps,
  },
  {
    name: 'its older spans',
    Integration: LegacyOpenTelemetry,
    format: 'vercel-ai',
    agent: 'ai.generateText',
    generate: 'ai.generateText.doGenerate',
    stream: 'ai.streamText.doStream',
    chains: () => 1,
  },
] as const

const SYSTEM = 'You are a helpful assistant.'
const COUNTED = {
  usage_metadata: {
    input_tokens: 25,
    output_tokens: 9,
    total_tokens: 34,
    input_token_details: { cache_read: 10 },
  },
  usage_source: { input: 'client', output: 'client' },
  checks: ALL_OK,
}

describe.each(TELEMETRIES)(
  'the AI SDK, $name',
  ({ Integration, format, agent, generate, stream, chains }) => {
    const app = useInstrumentedApp()

    /** Settings of every call. */
    function settings() {
      const tracer = app().provider.getTracer('ai')
      const functionId = 'concierge'
      return { telemetry: { integrations: [new Integration({ tracer })], functionId }, maxRetries: 0 }
    }
    const vendor = () => createOpenAI({ apiKey: 'none', baseURL: app().vendorUrl })
    const weather = () =>
      tool({
        description: 'The weather of a city.',
        inputSchema: jsonSchema<{ city: string }>({
          type: 'object',
          properties: { city: { type: 'string' } },
        }),
        execute: () => Promise.resolve({ degrees: 18 }),
      })
    const named = ({ runs }: ReadTrace, name: string) => runs.filter((traceRun) => traceRun.name === name)

    it.each(['chat', 'responses'] as const)('one answer (%s)', async (api) => {
      const trace = await app().trace(chains(1) + 2, () =>
        generateText({
          ...settings(),
          model: vendor()[api]('gpt-4.1'),
          instructions: SYSTEM,
          prompt: 'Hi there',
        }),
      )
      expect(trace.root).toMatchObject({ name: 'app', run_type: 'chain', parent_run_id: null })
      expect(named(trace, agent)).toMatchObject([{ run_type: 'chain', parent_run_id: trace.root!.id }])
      const [llm] = llmsOf(trace)
      expect(llm).toMatchObject({ name: generate, status: 'success', first_token_time: null })
      expect(llm!.parent_run_id).toBe(trace.runs.filter(({ run_type }) => run_type === 'chain').at(-1)!.id)
      expect(llm!.llm).toMatchObject({
        ...COUNTED,
        provider: 'openai',
        model: 'gpt-4.1',
        input_format: format,
        output_format: format,
        messages: {
          input: [
            { role: 'system', content: text(SYSTEM) },
            { role: 'user', content: text('Hi there') },
          ],
          output: [{ role: 'assistant', content: text(REPLY) }],
        },
        time_to_first_token_ms: null,
        issues: [],
      })
      expectOnlyLlmsCounted(trace)
    })

    it.each(['chat', 'responses'] as const)('a stream (%s)', async (api) => {
      const trace = await app().trace(chains(1) + 2, async () => {
        const { textStream } = streamText({
          ...settings(),
          model: vendor()[api]('gpt-4.1'),
          prompt: 'Hi there',
        })
        let said = ''
        for await (const piece of textStream) said += piece
        expect(said).toBe(REPLY)
      })
      const [llm] = llmsOf(trace)
      expect(llm).toMatchObject({ name: stream, status: 'success' })
      expect(llm!.llm).toMatchObject({
        ...COUNTED,
        messages: {
          input: [{ role: 'user', content: text('Hi there') }],
          output: [{ role: 'assistant', content: text(REPLY) }],
        },
        issues: [],
      })
      expectFirstToken(llm!)
      expectOnlyLlmsCounted(trace)
    })

    it.each(['chat', 'responses'] as const)('an agent that calls a tool (%s)', async (api) => {
      const trace = await app().trace(chains(2) + 4, () =>
        generateText({
          ...settings(),
          model: vendor()[api]('gpt-4.1'),
          tools: { get_weather: weather() },
          stopWhen: isStepCount(3),
          prompt: 'Weather in Paris?',
        }),
      )
      const llms = llmsOf(trace)
      expect(llms.map(({ llm }) => llm)).toMatchObject([
        {
          usage_metadata: { input_tokens: 82, output_tokens: 17, total_tokens: 99 },
          messages: { output: [{ role: 'assistant', content: [WEATHER_BLOCK] }] },
          checks: ALL_OK,
        },
        {
          usage_metadata: { input_tokens: 25, output_tokens: 9, total_tokens: 34 },
          messages: {
            input: [
              { role: 'user', content: text('Weather in Paris?') },
              { role: 'assistant', content: [WEATHER_BLOCK] },
              { role: 'tool', tool_call_id: WEATHER_CALL.id },
            ],
            output: [{ role: 'assistant', content: text(WEATHER_REPLY) }],
          },
          checks: ALL_OK,
        },
      ])
      expect(JSON.stringify(llms[1]!.llm!.messages!.input[2])).toContain('degrees')
      for (const { extra } of llms)
        expect(extra['invocation_params']).toMatchObject({ tools: [{ name: 'get_weather' }] })
      const [tooled] = trace.runs.filter(({ run_type }) => run_type === 'tool')
      expect(tooled).toMatchObject({
        name: 'get_weather',
        inputs: WEATHER_CALL.args,
        outputs: { degrees: 18 },
      })
      // The spans above the calls have the sum of their tokens, which must not count again (rule N6).
      expect(trace.totals).toMatchObject({ prompt_tokens: 107, completion_tokens: 26, total_tokens: 133 })
      expect(named(trace, agent)).toMatchObject([{ total_tokens: 133 }])
      expectOnlyLlmsCounted(trace)
    })

    it('an error of the vendor', async () => {
      const trace = await app().trace(chains(1) + 2, async () => {
        const asking = generateText({ ...settings(), model: vendor().chat(BROKEN_MODEL), prompt: 'Hi there' })
        await expect(asking).rejects.toThrow('this model is broken')
      })
      const [llm] = llmsOf(trace)
      expect(llm).toMatchObject({
        status: 'error',
        llm: { provider: 'openai', model: BROKEN_MODEL },
      })
      expect(llm!.error).toContain('this model is broken')
      // A call that the vendor refused used no tokens, so no tokens are estimated.
      expect(llm!.llm!.usage_metadata).toMatchObject({ input_tokens: null, output_tokens: null })
      expect(trace.totals).toMatchObject({ llm_runs: 1, total_tokens: 0, total_cost: null })
    })

    it('an embedding, counted once for any number of spans', async () => {
      const trace = await app().trace(3, () =>
        embed({ ...settings(), model: vendor().embedding('text-embedding-3-small'), value: 'Hi there' }),
      )
      const embedding = trace.runs.at(-1)!
      expect(embedding).toMatchObject({
        run_type: 'embedding',
        llm: {
          provider: 'openai',
          model: 'text-embedding-3-small',
          usage_metadata: { input_tokens: 8, total_tokens: 8 },
          usage_source: { input: 'client' },
        },
      })
      expect(Number(embedding.total_cost)).toBeGreaterThan(0)
      expect(trace.totals).toMatchObject({ total_tokens: 8, total_cost: embedding.total_cost })
    })
  },
)
