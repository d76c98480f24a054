import type { HotRoute } from '../../../api/route.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { INGEST_REFUSALS, neverReached } from './ingest-route.ts'

const ERRORS = [
  'invalid_otlp',
  'invalid_encoding',
  'body_too_large',
  'body_too_slow',
  'too_many_parts',
  'unsupported_media_type',
  'unsupported_encoding',
  ...INGEST_REFUSALS,
] as const

const DESCRIPTION =
  'OTLP/HTTP in protobuf or JSON; Content-Encoding identity, gzip, deflate, zstd or snappy. Answers come in the encoding of the request: an empty response, or one with `partial_success` when records were refused; errors are a google.rpc.Status. '

function otlpRoute(path: string, hot: HotRoute, summary: string, description: string): PlatformRoute {
  return route({
    method: 'POST',
    path,
    needs: 'runs:create',
    summary,
    description: DESCRIPTION + description,
    tag: 'Ingest',
    body: 'raw',
    reply: 'bytes',
    wire_types: ['application/x-protobuf', 'application/json'],
    errors: ERRORS,
    hot,
    handle: neverReached,
  })
}

/**
 * Routes to which OpenTelemetry exporters send. The ingest handler matches them on the raw request (see
 * ingest-handler.ts); here they are only described.
 */
export function otlpRoutes(): PlatformRoute[] {
  const traces = [
    { kind: 'otlp-traces' },
    'Send OpenTelemetry spans',
    'The project is `langsmith.trace.session_name`, else the header `Langsmith-Project`, else `default`.',
  ] as const
  const logs = [
    { kind: 'otlp-logs' },
    'Send OpenTelemetry log records with the content of GenAI spans',
    'GenAI events are joined to their span by trace and span id, whichever comes first; other records are refused.',
  ] as const
  const metrics = [
    { kind: 'otlp-metrics' },
    'Take OpenTelemetry metrics, and drop them',
    'They are counted and not kept, so that exporters that send them have nothing to complain about.',
  ] as const
  const langfuse = [
    { kind: 'otlp-traces', basic: true },
    "Send OpenTelemetry spans with Langfuse's clients",
    'The key may be the password of `Authorization: Basic`; the user name is any.',
  ] as const
  return [
    otlpRoute('/otel/v1/traces', ...traces),
    otlpRoute('/v1/traces', ...traces),
    otlpRoute('/otel/v1/logs', ...logs),
    otlpRoute('/v1/logs', ...logs),
    otlpRoute('/otel/v1/metrics', ...metrics),
    otlpRoute('/v1/metrics', ...metrics),
    otlpRoute('/public/otel/v1/traces', ...langfuse),
  ]
}
