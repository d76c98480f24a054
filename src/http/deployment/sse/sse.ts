import type { ServerResponse } from 'node:http'
import { AppError, toAppError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/log.ts'
import type { EventStream } from '../../../runs/streams.ts'
import type { LiveBody } from '../../exchange.ts'
import type { Outflow } from '../../outflow.ts'
import { createCompactEncoder, createSharedEncoder } from './frames.ts'
import { createHeartbeats } from './heartbeats.ts'

/** Streams of events as bodies of answers, of type `text/event-stream`. */
export interface Sse {
  /**
   * Takes one of the places for streams, for `holder`; what is answered gives it back.
   * @throws AppError too_many_streams
   */
  enter(holder: string): () => void
  /** The body of a stream. Its reader is cut when it takes nothing for a minute, and finds its place again by its last id. */
  body(stream: EventStream, options: BodyOptions): LiveBody
}

export interface BodyOptions {
  /** Metadata of messages once, as createCompactEncoder says. */
  compact: boolean
  /** Who reads. */
  holder: string
}

export interface SseParts {
  logger: Logger
  outflow: Outflow
  limits: { at_once: number; at_once_per_key: number }
  heartbeat_ms?: number
}

/** Regular, or clients that watch for it think that the connection is dead (run-api 1.8). */
const HEARTBEAT_MS = 5000
/** A line of its own, but no empty line after it: an SDK takes that for the end of an event. */
const HEARTBEAT = ': heartbeat\n'

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
      heartbeats.spoke(res)
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

function createPlaces({ at_once, at_once_per_key }: SseParts['limits']) {
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
