import type { ServerResponse } from 'node:http'
import { toAppError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/log.ts'
import type { EventStream } from '../../../runs/streams.ts'
import type { LiveBody } from '../../exchange.ts'
import { createCompactEncoder, createSharedEncoder } from './frames.ts'
import { createHeartbeats } from './heartbeats.ts'

/** Streams of events as bodies of answers, of type `text/event-stream`. */
export interface Sse {
  /** `compact`: metadata of messages once, as createCompactEncoder says. */
  body(stream: EventStream, compact: boolean): LiveBody
}

/** Regular, or clients that watch for it think that the connection is dead (run-api 1.8). */
const HEARTBEAT_MS = 5000
/** A line of its own, but no empty line after it: an SDK takes that for the end of an event. */
const HEARTBEAT = ': heartbeat\n'

export function createSse({
  logger,
  heartbeat_ms = HEARTBEAT_MS,
}: {
  logger: Logger
  heartbeat_ms?: number
}): Sse {
  const heartbeats = createHeartbeats(HEARTBEAT, heartbeat_ms)
  const encodeShared = createSharedEncoder()
  return {
    body(stream, compact) {
      const encode = compact ? createCompactEncoder() : encodeShared
      return {
        async writeTo(res) {
          heartbeats.join(res)
          try {
            for await (const batch of stream.batches) {
              if (res.destroyed) return
              heartbeats.spoke(res)
              if (!res.write(encode(batch))) await drained(res)
            }
          } catch (error) {
            if (toAppError(error).code !== 'shutting_down') logger.warn({ err: error }, 'a stream broke off')
            throw error
          } finally {
            heartbeats.leave(res)
          }
        },
        close: () => stream.close(),
      }
    },
  }
}

/** Resolves when the client has taken what was written, or is gone. */
function drained(res: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (res.destroyed || !res.writableNeedDrain) return Promise.resolve()
  const done = (): void => {
    res.off('drain', done)
    res.off('close', done)
    resolve()
  }
  res.once('drain', done)
  res.once('close', done)
  return promise
}
