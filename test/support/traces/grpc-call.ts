import { once } from 'node:events'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'

export const TRACES = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
export const LOGS = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'
export const METRICS = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export'

/** The response to a unary call. */
export interface GrpcAnswer {
  headers: IncomingHttpHeaders
  /** The trailers, or the headers if the response has no trailers. */
  trailers: IncomingHttpHeaders
  /** The message without its prefix; undefined if the response has no message. */
  message: Buffer | undefined
}

/** A message with its prefix of five bytes. */
export function framed(message: Uint8Array, compressed = false): Buffer {
  const prefix = Buffer.alloc(5)
  prefix[0] = Number(compressed)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** Makes a unary call with these bytes as its body, over a new connection. */
export async function call(
  url: string,
  path: string,
  body: Uint8Array,
  headers: Record<string, string> = {},
): Promise<GrpcAnswer> {
  const session = connect(url)
  // A connection's errors also fail the calls on it.
  session.on('error', () => undefined)
  try {
    return await callOn(session, path, body, headers)
  } finally {
    session.destroy()
  }
}

/** Makes a unary call over an existing connection. */
export async function callOn(
  session: ClientHttp2Session,
  path: string,
  body: Uint8Array,
  headers: Record<string, string> = {},
): Promise<GrpcAnswer> {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  const answer: GrpcAnswer = { headers: {}, trailers: {}, message: undefined }
  const pieces: Buffer[] = []
  stream.on('response', (sent) => {
    answer.headers = sent
    answer.trailers = sent
  })
  stream.on('trailers', (sent) => void (answer.trailers = sent))
  stream.on('data', (piece: Buffer) => void pieces.push(piece))
  const closed = once(stream, 'close')
  stream.end(body)
  await closed
  if (pieces.length > 0) answer.message = Buffer.concat(pieces).subarray(5)
  return answer
}
