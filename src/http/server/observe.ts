import {
  context,
  metrics as otelMetrics,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Exchange } from './exchange.ts'

/** Measures, logs and traces every exchange. */
export interface Observer {
  /** Runs `work` with the exchange's span as the active one; the exchange is recorded when its response is sent. */
  observe(exchange: Exchange, work: () => void): void
}

const NAME = 'weir'
const UNMATCHED = '(none)'

/** Starts the span of a request, with the names of OpenTelemetry's semantic conventions for HTTP servers. */
function startSpan({ req, path }: Exchange): { span: Span; active: ReturnType<typeof context.active> } {
  const method = req.method ?? ''
  const parent = propagation.extract(context.active(), req.headers)
  const span = trace.getTracer(NAME).startSpan(
    method,
    {
      kind: SpanKind.SERVER,
      attributes: {
        'http.request.method': method,
        'url.path': path,
        'url.scheme': 'http',
        'user_agent.original': req.headers['user-agent'] ?? '',
      },
    },
    parent,
  )
  return { span, active: trace.setSpan(parent, span) }
}

function endSpan(span: Span, exchange: Exchange, status: number): void {
  const { req, route } = exchange
  span.updateName(`${req.method} ${route || UNMATCHED}`)
  span.setAttributes({ 'http.route': route, 'http.response.status_code': status })
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/**
 * Creates an observer. It measures `http_server_request_duration_seconds{method,route,status}` for scrapes, which
 * OpenTelemetry gets as `http.server.request.duration`, and writes one log line per request at level debug, or warn for
 * 5xx other than refusals under load. Status 499 stands for a client that disconnected before its response.
 */
export function createObserver({ metrics, logger }: { metrics: Metrics; logger: Logger }): Observer {
  const seconds = metrics.histogram('http_server_request_duration_seconds', 'Time to answer a request.')
  const duration = otelMetrics
    .getMeter(NAME)
    .createHistogram('http.server.request.duration', { unit: 's', description: 'Time to answer a request.' })

  const record = (exchange: Exchange, span: Span, started: number): void => {
    const { req, res, request_id, path, principal } = exchange
    const route = exchange.route || UNMATCHED
    const method = req.method ?? ''
    const status = res.writableFinished ? res.statusCode : 499
    const elapsed = (performance.now() - started) / 1000
    seconds.observe(elapsed, { method, route, status: String(status) })
    duration.record(elapsed, {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
    })
    endSpan(span, exchange, status)
    const level = status >= 500 && status !== 503 ? 'warn' : 'debug'
    if (!logger.isLevelEnabled(level)) return
    const ms = Math.round(elapsed * 1e5) / 100
    logger[level]({ request_id, method, path, route, status, ms, short_key: principal?.short_key }, 'request')
  }

  return {
    observe(exchange, work) {
      const started = performance.now()
      const { span, active } = startSpan(exchange)
      exchange.res.once('close', () => record(exchange, span, started))
      context.with(active, work)
    },
  }
}
