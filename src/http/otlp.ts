import type { Accepted } from '../ingest/ingester.ts'
import type { RequestHead } from '../trace/decoded.ts'
import { exportAnswer, otlpFormat, statusAnswer } from '../trace/otel/otlp-answer.ts'
import type { OtlpFormat } from '../trace/otel/otlp-record.ts'
import { type Exchange, sendBytes } from './exchange.ts'
import type { ProblemWriter } from './problem.ts'
import { usageWarning } from './usage-warning.ts'

/** Kinds of requests that speak OTLP/HTTP. */
export type OtlpKind = Extract<RequestHead['kind'], `otlp-${string}`>

/** True for requests that are answered as OTLP says, and not as the rest of the API. */
export function isOtlp(kind: RequestHead['kind']): kind is OtlpKind {
  return kind === 'otlp-traces' || kind === 'otlp-logs'
}

/** Answers come in the encoding of the request; in JSON where that has none of OTLP's. */
function formatOf({ req }: Exchange): OtlpFormat {
  return otlpFormat(req.headers['content-type'] ?? '') ?? 'json'
}

/** 200, with partial_success when some records were refused: the exporter must not send those again. */
export function sendExported(exchange: Exchange, kind: OtlpKind, outcome: Accepted): void {
  const { content_type, body } = exportAnswer(formatOf(exchange), kind, outcome.rejected)
  sendBytes(exchange, 200, { 'content-type': content_type, ...usageWarning(outcome) }, body)
}

/** Errors as a google.rpc.Status. */
export function otlpProblem(exchange: Exchange): ProblemWriter {
  return (error) => statusAnswer(formatOf(exchange), error)
}
