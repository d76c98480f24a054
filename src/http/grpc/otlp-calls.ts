import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { AppError, toAppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { Accepted } from '../../ingest/ingester.ts'
import type { RequestHead } from '../../trace/decode/decoded.ts'
import { exportAnswer } from '../../trace/otel/wire/answer.ts'
import type { AppDeps } from '../platform/app-deps.ts'
import { withBody } from '../body/body.ts'
import { credentialsOf } from '../server/credentials.ts'
import type { Entrance } from '../platform/entrance.ts'
import { requestHead } from '../platform/ingest-handler.ts'
import type { OtlpKind } from '../platform/otlp.ts'
import { assertAllowed } from '../api/access.ts'
import { usageWarning } from '../platform/usage-warning.ts'
import { codeName, framed, messageEncoding, PREFIX_BYTES, statusTrailers } from './grpc-message.ts'

/** One call, with the stream for its response. */
interface Call {
  stream: ServerHttp2Stream
  headers: IncomingHttpHeaders
  /** `/package.Service/Method`. */
  path: string
  request_id: string
}

export type GrpcHandler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void

const SERVICE = '/opentelemetry.proto.collector'
const METHODS: ReadonlyMap<string, OtlpKind> = new Map([
  [`${SERVICE}.trace.v1.TraceService/Export`, 'otlp-traces'],
  [`${SERVICE}.logs.v1.LogsService/Export`, 'otlp-logs'],
  [`${SERVICE}.metrics.v1.MetricsService/Export`, 'otlp-metrics'],
])
const ENCODINGS = 'identity,gzip,deflate,zstd,snappy'
const UNMATCHED = '(none)'

/**
 * Handles OTLP/gRPC: unary calls, with the same results as the same messages over OTLP/HTTP. Key, permission and memory
 * are checked before and while a message arrives. Browsers cannot make such calls, so AUTH=off needs no gates here.
 */
export function createOtlpCalls(deps: AppDeps, entrance: Entrance): GrpcHandler {
  const seconds = deps.metrics.histogram(
    'grpc_server_request_duration_seconds',
    'Time to answer a gRPC call.',
  )

  const answer = async (call: Call): Promise<void> => {
    const kind = METHODS.get(call.path)
    if (kind === undefined)
      throw new AppError('not_found', { message: `There is no method ${call.path} here.` })
    const principal = await deps.authenticator.authenticate(credentialsOf(call.headers))
    assertAllowed(principal, { needs: 'runs:create' })
    await deps.rates.assertRoom(principal, undefined)
    const source = { req: call.stream, principal, prefix_bytes: PREFIX_BYTES }
    await withBody(source, entrance.admission, deps.limits, async ({ prefix, bytes, aborted }, hold) => {
      if (aborted) return
      const encoding = messageEncoding(
        prefix,
        bytes.length,
        call.headers['grpc-encoding'] as string | undefined,
      )
      if (kind === 'otlp-metrics') return sendExported(call, kind, entrance.dropMetrics())
      const head: RequestHead = {
        ...requestHead({ kind }, call.headers, principal, deps),
        content_type: 'application/x-protobuf',
        content_encoding: encoding,
      }
      sendExported(call, kind, await deps.ingester.ingest(head, bytes, hold))
    })
  }

  return (stream, headers) => {
    const started = performance.now()
    const path = headers[':path'] ?? ''
    const call: Call = { stream, headers, path, request_id: newUuid() }
    stream.on('error', () => undefined)
    stream.once('close', () => {
      const code = String(stream.sentTrailers?.['grpc-status'] ?? stream.sentHeaders?.['grpc-status'] ?? '')
      const method = METHODS.has(path) ? path.slice(1) : UNMATCHED
      const status = code === '' ? 'CANCELLED' : codeName(Number(code))
      seconds.observe((performance.now() - started) / 1000, { method, status })
    })
    if (!isGrpc(headers)) return refuseOther(call)
    answer(call).catch((thrown: unknown) => sendError(call, thrown, { ...deps, ...entrance }))
  }
}

function isGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'] ?? ''
  return headers[':method'] === 'POST' && /^application\/grpc(\+proto)?(;|$)/i.test(type)
}

/** The headers of every response. */
function headOf({ request_id }: Call) {
  return { ':status': 200, 'content-type': 'application/grpc', 'x-request-id': request_id }
}

/** A call that is not gRPC is answered as HTTP. */
function refuseOther({ stream }: Call): void {
  stream.respond({ ':status': 415 }, { endStream: true })
  stream.close(constants.NGHTTP2_NO_ERROR)
}

function sendExported(call: Call, kind: OtlpKind, outcome: Accepted): void {
  const { stream } = call
  if (stream.destroyed || stream.closed) return
  const { body } = exportAnswer('protobuf', kind, outcome.rejected)
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }))
  stream.respond({ ...headOf(call), ...usageWarning(outcome) }, { waitForTrailers: true })
  stream.end(framed(body))
}

/** Ends the call with the error; the rest of the message is not read. */
function sendError(call: Call, thrown: unknown, deps: Pick<AppDeps & Entrance, 'logger' | 'refusals'>): void {
  const { stream, path, request_id } = call
  const error = toAppError(thrown)
  if (error.status >= 500 && !error.retryable)
    deps.logger.error(
      { request_id, method: path, code: error.code, err: error.cause ?? error },
      'call failed',
    )
  deps.refusals.note({ what: path, headers: call.headers, from: stream.session?.socket.remoteAddress, error })
  if (stream.destroyed || stream.closed) return
  const accepted = error.code === 'unsupported_encoding' ? { 'grpc-accept-encoding': ENCODINGS } : {}
  stream.respond({ ...headOf(call), ...accepted, ...statusTrailers(error) }, { endStream: true })
  stream.close(constants.NGHTTP2_NO_ERROR)
}
