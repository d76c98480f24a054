import { AppError } from '../../base/errors.ts'
import type { Accepted } from '../../ingest/ingester.ts'
import type { RequestHead } from '../../trace/decode/decoded.ts'
import { exportAnswer, otlpFormat, statusAnswer } from '../../trace/otel/wire/answer.ts'
import type { OtlpFormat } from '../../trace/otel/wire/record.ts'
import { type Exchange, sendBytes } from '../server/exchange.ts'
import type { ProblemWriter } from '../server/problem.ts'
import { usageWarning } from './usage-warning.ts'

/** Kinds of OTLP requests. Metrics are accepted but not stored. */
export type OtlpKind = Extract<RequestHead['kind'], `otlp-${string}`> | 'otlp-metrics'

/** True for requests whose responses follow OTLP instead of the rest of the API. */
export function isOtlp(kind: RequestHead['kind'] | OtlpKind): kind is OtlpKind {
  return kind.startsWith('otlp-')
}

/** The encoding of the response: that of the request, or JSON if the request's type is not one of OTLP. */
function formatOf({ req }: Exchange): OtlpFormat {
  return otlpFormat(req.headers['content-type'] ?? '') ?? 'json'
}

/** @throws AppError unsupported_media_type for a body that is neither protobuf nor JSON */
export function assertOtlpType({ headers }: Pick<Exchange['req'], 'headers'>): void {
  if (otlpFormat(headers['content-type'] ?? '') === undefined) throw new AppError('unsupported_media_type')
}

/** Responds with 200, and with partial_success if some records were refused, which the exporter must not send again. */
export function sendExported(exchange: Exchange, kind: OtlpKind, outcome: Accepted): void {
  const { content_type, body } = exportAnswer(formatOf(exchange), kind, outcome.rejected)
  sendBytes(exchange, 200, { 'content-type': content_type, ...usageWarning(outcome) }, body)
}

/** Errors as a google.rpc.Status. */
export function otlpProblem(exchange: Exchange): ProblemWriter {
  return (error) => statusAnswer(formatOf(exchange), error)
}
