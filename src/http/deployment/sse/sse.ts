import type { ServerResponse } from 'node:http'
import { AppError, toAppError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/log.ts'
import type { EventStream } from '../../../runs/streams/streams.ts'
import type { LiveBody } from '../../server/exchange.ts'
import type { Outflow } from '../../server/outflow.ts'
import { createCompactEncoder, createSharedEncoder } from './frames.ts'
import { createHeartbeats } from './heartbeats.ts'

/** Streams of events as bodies of responses, of type `text/event-stream`. */
export interface Sse {
  /**
   * Counts an open stream of `holder`; the returned function releases it.
   * @throws AppError too_many_streams
   */
  enter(holder: string): () => void
  /** The body of a stream. A client that reads nothing for a minute is disconnected; it can resume with its last event id. */
  body(stream: EventStream, options: BodyOptions): LiveBody
}

export interface BodyOptions {
  /** Sends metadata of messages only once; see createCompactEncoder. */
  compact: boolean
  /** The caller; see Outflow. */
  holder: string
}

export interface SseParts {
  logger: Logger
  outflow: Outflow
  limits: { at_once: number; at_once_per_key: number }
  heartbeat_ms?: number
}

/** Clients that watch for heartbeats give up a connection on which they do not come regularly. */
export const HEARTBEAT_MS = 5000
/** A line of its own, without an empty line after it: an SDK would read that as the end of an event. */
export const HEARTBEAT = ': heartbeat\n'

export function createSse({ logger, outflow, limits, heartbeat_ms = HEARTBEAT_MS }: SseParts): Sse {
  const heartbeats = createHeartbeats(HEARTBEAT, heartbeat_ms)
  const encodeShared = createSharedEncoder()
  const places = createPlaces(limits)

  const writeAll = async (
    res: ServerResponse,
    { batches }: EventStream,
    { compact, holder }: BodyOptions,
  ): Promise<void> => {
    const encode = compact ? createCompactEncoder() : encodeShared
    for await (const batch of batches) {
      heartbeats.wrote(res)
      for (const bytes of encode(batch)) if (!(await outflow.write(holder, res, bytes))) return
    }
  }

  return {
    enter: places.enter,
    body(stream, options) {
      return {
        async writeTo(res) {
          heartbeats.join(res)
          try {
            await writeAll(res, stream, options)
          } catch (error) {
            if (toAppError(error).code !== 'shutting_down')
              logger.warn({ err: error }, 'a stream ended with an error')
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

/** Counts open streams, of each caller and of all. */
export function createPlaces({ at_once, at_once_per_key }: SseParts['limits']) {
  const held = new Map<string, number>()
  let taken = 0
  return {
    enter(holder: string): () => void {
      const mine = held.get(holder) ?? 0
      if (taken >= at_once || mine >= at_once_per_key) throw new AppError('too_many_streams')
      taken++
      held.set(holder, mine + 1)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        taken--
        const left = (held.get(holder) ?? 1) - 1
        if (left > 0) held.set(holder, left)
        else held.delete(holder)
      }
    },
  }
}
