import { AppError } from '../../base/errors.ts'
import { type Route, type RouteReply, route } from '../route.ts'

const ERRORS = [
  'invalid_otlp',
  'invalid_encoding',
  'body_too_large',
  'body_too_slow',
  'too_many_parts',
  'unsupported_media_type',
  'unsupported_encoding',
  'overloaded',
  'log_full',
  'usage_limit_reached',
] as const

const DESCRIPTION =
  'OTLP/HTTP in protobuf or JSON; Content-Encoding identity, gzip or zstd. Answers come in the encoding of the request: an empty response, or one with `partial_success` when records were refused; errors are a google.rpc.Status. '

/** Stands in for the ingest handler, which takes these requests before any route is tried. */
async function never(): Promise<RouteReply<never>> {
  throw new AppError('internal', { message: 'An ingest route reached the router.' })
}

function otlpRoute(path: string, summary: string, description: string): Route {
  return route({
    method: 'POST',
    path,
    summary,
    description: DESCRIPTION + description,
    tag: 'Ingest',
    body: 'raw',
    reply: 'bytes',
    wire_types: ['application/x-protobuf', 'application/json'],
    errors: ERRORS,
    hot: true,
    handle: never,
  })
}

/** Where OpenTelemetry exporters send. Matched on the raw request (see ingest-handler.ts); here they are described. */
export function otlpRoutes(): Route[] {
  const traces = [
    'Send OpenTelemetry spans',
    'The project is `langsmith.trace.session_name`, else the header `Langsmith-Project`, else `default`.',
  ] as const
  const logs = [
    'Send OpenTelemetry log records with the content of GenAI spans',
    'GenAI events are joined to their span by trace and span id, whichever comes first; other records are refused.',
  ] as const
  return [
    otlpRoute('/otel/v1/traces', ...traces),
    otlpRoute('/v1/traces', ...traces),
    otlpRoute('/otel/v1/logs', ...logs),
    otlpRoute('/v1/logs', ...logs),
  ]
}
