// Sends the span of a model call with one of OpenTelemetry's exporters and the SDK that it depends on. Arguments: the
// folder of the exporter, the URL, the name of the project. Prints the id of the trace.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [folder, url, project] = process.argv.slice(2)
const require = createRequire(join(folder, 'package.json'))
const { OTLPTraceExporter } = require(folder)
const { dependencies } = require(join(folder, 'package.json'))
// Releases from 2.12 on have another package, and take the exporter as an option.
const isNew = '@opentelemetry/sdk-trace' in dependencies
const sdk = require(isNew ? '@opentelemetry/sdk-trace' : '@opentelemetry/sdk-trace-base')
const headers = { 'x-api-key': process.env.KEY, 'langsmith-project': project }
const metadata = () => {
  const { Metadata } = require('@grpc/grpc-js')
  return Metadata.fromHttp2Headers(headers)
}
const isGrpc = folder.includes('-grpc')
const exporter = new OTLPTraceExporter(isGrpc ? { url, metadata: metadata() } : { url, headers })
const processor = new sdk.SimpleSpanProcessor(isNew ? { exporter } : exporter)
const provider = new (isNew ? sdk.TracerProvider : sdk.BasicTracerProvider)({ spanProcessors: [processor] })
const span = provider.getTracer('field').startSpan('chat gpt-4o', {
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 7,
  },
})
span.end()
await provider.forceFlush()
await provider.shutdown()
console.log(JSON.stringify(span.spanContext().traceId))
