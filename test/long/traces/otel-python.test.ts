import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  BROKEN_MODEL,
  REPLY,
  WEATHER_CALL,
  WEATHER_REPLY,
} from '../../support/servers/vendors/fake-vendor.ts'
import { eventually } from '../../support/eventually.ts'
import { PYTHON, withoutPython } from '../../support/python.ts'
import { type ClientSetup, useClientSetup } from '../../conformance/langsmith/js/client-setup.ts'
import type { ReadTrace } from '../../conformance/traces/corpus/facts.ts'
import { llmsOf, readEndedTrace } from './instrumentations/instrumented-app.ts'
import { ALL_OK, expectFirstToken, text, WEATHER_BLOCK } from '../../conformance/traces/vendor-calls.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const CAPTURE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'
const INSTRUMENTATIONS = [
  {
    title: 'OpenInference',
    which: 'openinference',
    env: {},
    format: 'openinference',
    firstToken: true,
  },
  {
    title: 'OpenLLMetry, over gRPC',
    which: 'openllmetry',
    grpc: true,
    env: {},
    format: 'otel-genai',
    firstToken: true,
  },
  {
    title: "OpenTelemetry's own, content on spans",
    which: 'contrib',
    env: { OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental', [CAPTURE]: 'span_only' },
    format: 'otel-genai',
    firstToken: false,
  },
  {
    title: "OpenTelemetry's own, content in one log record of each call",
    which: 'contrib',
    env: { OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental', [CAPTURE]: 'event_only' },
    format: 'otel-genai',
    firstToken: false,
  },
  {
    title: "OpenTelemetry's own, content in log records of its messages",
    which: 'contrib',
    env: { [CAPTURE]: 'true' },
    format: 'otel-genai',
    firstToken: false,
  },
]

type Instrumentation = (typeof INSTRUMENTATIONS)[number]

/** The standard error of an instrumented application, and the trace that it sent. */
interface Instrumented {
  stderr: string
  trace: ReadTrace
}

const SCRIPT = fileURLToPath(new URL('otel_python.py', import.meta.url))
const missing = withoutPython()

async function runInstrumented(
  setup: ClientSetup,
  { which, env, grpc }: Instrumentation,
): Promise<Instrumented> {
  const { weir, proxy, vendor } = setup
  const done = await promisify(execFile)(
    PYTHON,
    [SCRIPT, which, proxy.url, weir.key, vendor.url, ...(grpc === true ? [weir.otlpGrpcUrl] : [])],
    {
      env: { PATH: process.env['PATH'] ?? '', OTEL_EXPORTER_OTLP_TIMEOUT: '120', ...env },
    },
  )
  const trace = await eventually(async () => {
    const read = await readEndedTrace(setup, done.stdout.trim(), 6)
    const llms = llmsOf(read)
    // The messages are in log records, which arrive after the spans. So the trace is read until it has all of them.
    expect(llms.filter(({ llm }) => llm!.messages!.input.length === 0)).toEqual([])
    const answered = llms.filter(({ status }) => status !== 'error')
    expect(answered.map(({ total_tokens }) => total_tokens)).not.toContain(0)
    expect(answered.map(({ total_cost }) => total_cost)).not.toContain(null)
    expect(read.totals.total_tokens).toBe(llms.reduce((sum, llm) => sum + llm.total_tokens, 0))
    return read
  })
  return { stderr: done.stderr, trace }
}

describe.skipIf(missing !== '')(`instrumentations in Python${missing}`, () => {
  const setup = useClientSetup()
  const runs = new Map<string, Promise<Instrumented>>()

  // The applications are separate processes that run at the same time.
  beforeAll(() => {
    for (const instrumentation of INSTRUMENTATIONS) {
      const run = runInstrumented(setup(), instrumentation)
      run.catch(() => undefined)
      runs.set(instrumentation.title, run)
    }
  })

  describe.for(INSTRUMENTATIONS)('$title', ({ title, format, firstToken }) => {
    let stderr: string
    let trace: ReadTrace
    beforeAll(async () => {
      ;({ stderr, trace } = (await runs.get(title))!)
    })

    it('prints no warning', () => {
      expect(stderr).toBe('')
    })

    it('has its calls below the application, with their messages', () => {
      expect(trace.root).toMatchObject({ name: 'app', run_type: 'chain', parent_run_id: null })
      const llms = llmsOf(trace)
      expect(llms.map(({ parent_run_id }) => parent_run_id)).toEqual(Array(5).fill(trace.root!.id))
      const called = {
        provider: 'openai',
        model: 'gpt-4.1-mini',
        input_format: format,
        output_format: format,
      }
      const hello = {
        ...called,
        messages: {
          input: [
            { role: 'system', content: text('You are a helpful assistant.') },
            { role: 'user', content: text('Hi there') },
          ],
          output: [{ role: 'assistant', content: text(REPLY) }],
        },
        checks: ALL_OK,
      }
      expect(llms.slice(0, 4).map(({ llm }) => llm)).toMatchObject([
        hello,
        hello,
        {
          ...called,
          messages: { output: [{ role: 'assistant', content: [WEATHER_BLOCK] }] },
          checks: ALL_OK,
        },
        {
          ...called,
          messages: {
            input: [
              { role: 'user', content: text('Weather in Paris?') },
              { role: 'assistant', content: [WEATHER_BLOCK] },
              { role: 'tool', tool_call_id: WEATHER_CALL.id, content: text('18 degrees, sunny') },
            ],
            output: [{ role: 'assistant', content: text(WEATHER_REPLY) }],
          },
          checks: ALL_OK,
        },
      ])
    })

    it('has its counts and costs', () => {
      const [one, streamed, called, answered, broken] = llmsOf(trace)
      const source = { input: 'client', output: 'client' }
      for (const traceRun of [one!, streamed!, answered!])
        expect(traceRun.llm).toMatchObject({
          usage_metadata: { input_tokens: 25, output_tokens: 9, total_tokens: 34 },
          usage_source: source,
        })
      expect(called!.llm).toMatchObject({
        usage_metadata: { input_tokens: 82, output_tokens: 17, total_tokens: 99 },
        usage_source: source,
      })
      for (const { total_cost } of [one!, streamed!, called!, answered!])
        expect(Number(total_cost)).toBeGreaterThan(0)
      expect(broken!.llm!.usage_source).toEqual({ input: null, output: null })
      expect(trace.totals).toMatchObject({ total_tokens: 3 * 34 + 99, llm_runs: 5, error_runs: 1 })
    })

    it('has its first token if it sends that', () => {
      const [one, streamed] = llmsOf(trace)
      expect(one!.llm!.time_to_first_token_ms).toBeNull()
      if (firstToken) expectFirstToken(streamed!)
      else expect(streamed!.llm!.time_to_first_token_ms).toBeNull()
    })

    it('has its error, with the requested model', () => {
      const broken = llmsOf(trace)[4]
      expect(broken).toMatchObject({
        status: 'error',
        // A call that the vendor refused used no tokens, so no tokens are estimated.
        llm: {
          provider: 'openai',
          model: BROKEN_MODEL,
          usage_metadata: { input_tokens: null, output_tokens: null },
        },
      })
      expect(broken!.error).toContain('this model is broken')
    })
  })
})
