import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect } from 'vitest'
import { dashed } from '../../../../src/base/ids.ts'
import { eventually, PATIENCE_MS } from '../../../support/eventually.ts'
import { drained } from '../../../support/servers/server.ts'
import { type ClientSetup, useClientSetup } from '../../../conformance/langsmith/js/client-setup.ts'
import type { ReadTrace, ReadTraceRun } from '../../../conformance/traces/corpus/facts.ts'
import { HELLO, WEATHER_TOOLS, WEATHER_ROUNDS } from '../../../conformance/traces/vendor-calls.ts'

/** An application with tracing, set up as in OpenTelemetry's documentation. */
export interface InstrumentedApp {
  /** The tracer provider; it exports to the server as protobuf. */
  provider: TracerProvider
  /** Base URL of the fake OpenAI. */
  vendorUrl: string
  /** A client of the fake OpenAI. */
  openai: OpenAI
  /**
   * Runs `work` below a span of the application, and sends all spans. Returns the trace once all of its TraceRuns have
   * ended and there are that many of them, including the application's.
   */
  trace(count: number, work: () => Promise<unknown>): Promise<ReadTrace>
}

/** An application for the tests of a file; every response to it is compared with the server's OpenAPI document. */
export function useInstrumentedApp(): () => InstrumentedApp {
  const setup = useClientSetup()
  let provider: TracerProvider

  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const exporter = new OTLPTraceExporter({
      url: `${setup().proxy.url}/otel/v1/traces`,
      headers: { 'x-api-key': setup().weir.key, 'Langsmith-Project': 'instrumented' },
      timeoutMillis: PATIENCE_MS,
    })
    const resource = resourceFromAttributes({ 'service.name': 'instrumented-app' })
    const processor = new BatchSpanProcessor({ exporter, exportTimeoutMillis: PATIENCE_MS })
    provider = new TracerProvider({ resource, spanProcessors: [processor] })
  })
  afterAll(async () => {
    await provider.shutdown()
    context.disable()
  })

  async function trace(count: number, work: () => Promise<unknown>): Promise<ReadTrace> {
    const traceId = await provider.getTracer('app').startActiveSpan('app', async (span) => {
      await work().finally(() => span.end())
      return span.spanContext().traceId
    })
    await provider.forceFlush({ timeoutMillis: PATIENCE_MS })
    return await readEndedTrace(setup(), traceId, count)
  }

  return () => {
    const vendorUrl = `${setup().vendor.url}/v1`
    return {
      provider,
      vendorUrl,
      openai: new OpenAI({ apiKey: 'none', baseURL: vendorUrl, maxRetries: 0 }),
      trace,
    }
  }
}

/**
 * The trace with this OpenTelemetry id, read through the proxy. Waits until it has that many TraceRuns and all have
 * ended.
 */
export async function readEndedTrace(
  { weir, proxy }: ClientSetup,
  traceId: string,
  count: number,
): Promise<ReadTrace> {
  await drained(weir)
  return await eventually(async () => {
    const answer = await weir.request(`${proxy.url}/api/v1/traces/${dashed(traceId)}`)
    expect(answer.status).toBe(200)
    const read = (await answer.json()) as ReadTrace
    expect(read.runs.map(({ name }) => name)).toHaveLength(count)
    expect(read.runs.filter(({ end_time }) => end_time === null)).toEqual([])
    expect(read.root).not.toBeNull()
    return read
  })
}

/** The llm TraceRuns of a trace, in the order of their start. */
export function llmsOf({ runs }: ReadTrace): ReadTraceRun[] {
  return runs.filter(({ run_type }) => run_type === 'llm')
}

/** Checks that the totals are the sums of the model calls only, and that each call has a cost. */
export function expectOnlyLlmsCounted(trace: ReadTrace): void {
  const llms = llmsOf(trace)
  expect(llms.length).toBeGreaterThan(0)
  const sum = (key: 'prompt_tokens' | 'completion_tokens' | 'total_tokens') =>
    llms.reduce((all, llm) => all + llm[key], 0)
  expect(trace.totals).toMatchObject({
    llm_runs: llms.length,
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
  })
  for (const { total_cost } of llms) expect(Number(total_cost)).toBeGreaterThan(0)
  const costs = llms.reduce((all, { total_cost }) => all + Number(total_cost), 0)
  expect(Number(trace.totals.total_cost)).toBeCloseTo(costs, 12)
}

/** Sends a greeting, and reads the answer as a stream that ends with the token counts. */
export async function greetInStream({ openai }: InstrumentedApp): Promise<void> {
  const stream = await openai.chat.completions.create({
    model: 'gpt-4.1-mini',
    messages: HELLO,
    stream: true,
    stream_options: { include_usage: true },
  })
  for await (const _ of stream);
}

/** Sends the requests of an agent that calls the weather tool. */
export async function askWeather({ openai }: InstrumentedApp, stream: boolean): Promise<void> {
  for (const messages of WEATHER_ROUNDS) {
    const answer = await openai.chat.completions.create({
      model: 'gpt-4.1',
      tools: WEATHER_TOOLS,
      messages,
      stream,
    })
    if (Symbol.asyncIterator in answer) for await (const _ of answer);
  }
}
