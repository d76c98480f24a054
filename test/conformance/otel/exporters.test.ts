import { Metadata } from '@grpc/grpc-js'
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPLogExporter as GrpcLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { BatchSpanProcessor, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { describe, expect, it } from 'vitest'
import { dashed } from '../../../src/base/ids.ts'
import { spanUuid } from '../../../src/trace/otel/span/ids.ts'
import { eventually, PATIENCE_MS } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { type UsedWeir, useWeir } from '../../support/servers/use-weir.ts'
import type { ReadTrace } from '../traces/corpus/facts.ts'
import { firstInShort, inLong, someInShort } from '../../support/length.ts'

const resource = resourceFromAttributes({ 'service.name': 'exporters', 'service.version': '1' })

const EXPORTERS = [
  ['protobuf', ProtoExporter, CompressionAlgorithm.NONE],
  ['protobuf, gzip', ProtoExporter, CompressionAlgorithm.GZIP],
  ['JSON', JsonExporter, CompressionAlgorithm.NONE],
  ['JSON, gzip', JsonExporter, CompressionAlgorithm.GZIP],
  ['gRPC', GrpcExporter, CompressionAlgorithm.NONE],
  ['gRPC, gzip', GrpcExporter, CompressionAlgorithm.GZIP],
] as const

/** Sends an agent with a model call that fails after a tool call; returns their ids. */
function agentTrace(tracer: Tracer): { trace_id: string; llm: string; tool: string } {
  const root = tracer.startSpan(
    'agent',
    { attributes: { 'gen_ai.operation.name': 'invoke_agent' } },
    ROOT_CONTEXT,
  )
  const inRoot = trace.setSpan(ROOT_CONTEXT, root)
  const tool = tracer.startSpan(
    'execute_tool lookup',
    { attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'lookup' } },
    inRoot,
  )
  tool.end()
  const llm = tracer.startSpan(
    'chat gpt-4o',
    {
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.usage.output_tokens': 5,
        'gen_ai.request.temperature': 0.25,
        'gen_ai.response.finish_reasons': ['stop'],
      },
    },
    inRoot,
  )
  llm.recordException(new Error('cut off'))
  llm.setStatus({ code: SpanStatusCode.ERROR, message: 'cut off' })
  llm.end()
  root.end()
  return {
    trace_id: dashed(root.spanContext().traceId),
    llm: spanUuid(llm.spanContext().spanId),
    tool: spanUuid(tool.spanContext().spanId),
  }
}

async function readTrace(weir: UsedWeir, id: string, runs: number): Promise<ReadTrace> {
  await drained(weir)
  return await eventually(async () => {
    const read = await weir.json<ReadTrace>(`/api/v1/traces/${id}`)
    expect(read.runs.length).toBe(runs)
    expect(read.root).not.toBeNull()
    expect(read.totals).not.toBeNull()
    return read
  })
}

describe("OTLP-1, OTLP-11, D-20: OpenTelemetry's own exporters", () => {
  const { current } = useWeir()
  const headers = () => ({ 'x-api-key': current().key, 'Langsmith-Project': 'exporters' })
  const metadata = () => Metadata.fromHttp2Headers(headers())

  it.each(someInShort(EXPORTERS, 2))('send spans as %s', async (_, Exporter, compression) => {
    const url = Exporter === GrpcExporter ? current().otlpGrpcUrl : `${current().url}/v1/traces`
    const options = { url, compression, timeoutMillis: PATIENCE_MS }
    const exporter =
      Exporter === GrpcExporter
        ? new GrpcExporter({ ...options, metadata: metadata() })
        : new Exporter({ ...options, headers: headers() })
    const processor = new BatchSpanProcessor({ exporter, exportTimeoutMillis: PATIENCE_MS })
    const provider = new TracerProvider({ resource, spanProcessors: [processor] })
    const { trace_id, llm, tool } = agentTrace(provider.getTracer('test', '2'))
    await provider.forceFlush({ timeoutMillis: PATIENCE_MS })
    await provider.shutdown()
    const { root, runs, totals } = await readTrace(current(), trace_id, 3)
    expect(root).toMatchObject({ id: trace_id, name: 'agent', run_type: 'chain', parent_run_id: null })
    const byId = new Map(runs.map((run) => [run.id, run]))
    expect(byId.get(tool)).toMatchObject({ run_type: 'tool', name: 'lookup', parent_run_id: trace_id })
    expect(byId.get(llm)).toMatchObject({
      run_type: 'llm',
      status: 'error',
      parent_run_id: trace_id,
      prompt_tokens: 12,
      completion_tokens: 5,
      extra: {
        otel_span: {
          scope: { name: 'test', version: '2' },
          resource: { 'service.name': 'exporters', 'service.version': '1' },
          attributes: {
            'gen_ai.request.temperature': 0.25,
            'gen_ai.response.finish_reasons': ['stop'],
          },
          status: { code: 2, message: 'cut off' },
        },
      },
    })
    expect(byId.get(llm)!.dotted_order.startsWith(`${root!.dotted_order}.`)).toBe(true)
    expect(totals).toMatchObject({ total_tokens: 17, error_runs: 1 })
  })

  inLong(() => {
    it('may send every span as soon as it has ended, the root last', async () => {
      const url = `${current().url}/otel/v1/traces`
      const exporter = new ProtoExporter({ url, headers: headers(), timeoutMillis: PATIENCE_MS })
      const provider = new TracerProvider({
        resource,
        spanProcessors: [new SimpleSpanProcessor({ exporter })],
      })
      const { trace_id, llm } = agentTrace(provider.getTracer('test'))
      await provider.forceFlush({ timeoutMillis: PATIENCE_MS })
      await provider.shutdown()
      await eventually(async () => {
        const { root, runs } = await readTrace(current(), trace_id, 3)
        const found = runs.find(({ id }) => id === llm)!
        expect(found.parent_run_id).toBe(trace_id)
        expect(found.dotted_order.startsWith(`${root!.dotted_order}.`)).toBe(true)
      })
    })
  })

  it.each(firstInShort(['before', 'after', 'after, over gRPC']))(
    'send the content of a span as log records, %s it',
    async (when) => {
      const base = `${current().url}/api/v1/otel/v1`
      const to = (path: string) => ({ url: base + path, headers: headers(), timeoutMillis: PATIENCE_MS })
      const exportTimeoutMillis = PATIENCE_MS
      const traces = new TracerProvider({
        resource,
        spanProcessors: [
          new BatchSpanProcessor({ exporter: new ProtoExporter(to('/traces')), exportTimeoutMillis }),
        ],
      })
      const logs = new LoggerProvider({
        resource,
        processors: [
          new BatchLogRecordProcessor({
            exporter: when.endsWith('gRPC')
              ? new GrpcLogExporter({ url: current().otlpGrpcUrl, metadata: metadata() })
              : new OTLPLogExporter(to('/logs')),
            exportTimeoutMillis,
          }),
        ],
      })
      const span = traces
        .getTracer('test')
        .startSpan(
          'chat gpt-4o',
          { attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' } },
          ROOT_CONTEXT,
        )
      const inSpan = trace.setSpan(context.active(), span)
      const logger = logs.getLogger('test')
      logger.emit({ eventName: 'gen_ai.user.message', body: { content: 'What is 2+2?' }, context: inSpan })
      logger.emit({
        eventName: 'gen_ai.choice',
        body: { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Four.' } },
        context: inSpan,
      })
      span.end()
      if (when === 'before') await logs.forceFlush({ timeoutMillis: PATIENCE_MS })
      await traces.forceFlush({ timeoutMillis: PATIENCE_MS })
      await logs.forceFlush({ timeoutMillis: PATIENCE_MS })
      await Promise.all([traces.shutdown(), logs.shutdown()])
      await eventually(async () => {
        const { root } = await readTrace(current(), dashed(span.spanContext().traceId), 1)
        const messages = JSON.stringify(root!.llm?.messages)
        expect(messages).toContain('What is 2+2?')
        expect(messages).toContain('Four.')
      })
    },
  )
})
