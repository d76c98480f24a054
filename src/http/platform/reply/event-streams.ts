import type { ServerResponse } from 'node:http'
import { createHeartbeats, HEARTBEAT, HEARTBEAT_MS } from '../../deployment/sse/heartbeats.ts'
import { createPlaces, type StreamPlaces } from '../../deployment/sse/sse.ts'
import type { LiveBody } from '../../api/route.ts'
import { createOutflow } from '../../server/outflow.ts'

/** One server-sent event; `data` is sent as JSON. */
export interface SentEvent {
  /** Id that a client sends as `Last-Event-ID` when it reconnects. */
  id?: string
  event: string
  data: unknown
}

/** Headers of streams: caches must not store them, and proxies must not buffer them. */
export const STREAM_HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' } as const

/** Responses whose events are produced while they are sent. */
export interface EventStreams {
  /** Counts an open stream of `holder`; the returned function releases it. @throws AppError too_many_streams */
  enter(holder: string): () => void
  /**
   * The body of a stream. `events` must end when its signal aborts, which happens when the client disconnects or the
   * streams end.
   */
  body(events: (signal: AbortSignal) => AsyncIterable<SentEvent>, holder: string): LiveBody
  close(): void
}

/**
 * Streams of one kind within these bounds. `max_unsent_bytes`: over all streams, what is sent but not yet read by clients.
 * `max_ms`: the time after which a stream ends, so that its client authenticates again; default: no limit.
 */
export function createEventStreams({
  max_unsent_bytes,
  max_ms,
  ...limits
}: StreamPlaces & { max_unsent_bytes: number; max_ms?: number }): EventStreams {
  const outflow = createOutflow({ max_bytes: max_unsent_bytes })
  const heartbeats = createHeartbeats(HEARTBEAT, HEARTBEAT_MS)
  const places = createPlaces(limits)
  const closing = new AbortController()

  async function writeAll(
    res: ServerResponse,
    events: (signal: AbortSignal) => AsyncIterable<SentEvent>,
    holder: string,
  ): Promise<void> {
    const gone = new AbortController()
    if (res.destroyed) gone.abort()
    res.once('close', () => gone.abort())
    const over = max_ms === undefined ? [] : [AbortSignal.timeout(max_ms)]
    for await (const event of events(AbortSignal.any([closing.signal, gone.signal, ...over]))) {
      heartbeats.wrote(res)
      // Events are read to their end even after a disconnect, because their source may release resources there.
      await outflow.write(holder, res, Buffer.from(frame(event)))
    }
  }

  return {
    enter: places.enter,
    body(events, holder) {
      return {
        async writeTo(res) {
          heartbeats.join(res)
          await writeAll(res, events, holder).finally(() => heartbeats.leave(res))
        },
        close: () => undefined,
      }
    },
    close: () => closing.abort(),
  }
}

function frame({ id, event, data }: SentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
