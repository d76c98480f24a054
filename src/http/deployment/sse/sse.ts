import type { ServerResponse } from 'node:http'
import { AppError, toAppError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/log.ts'
import type { EventStream, ProtocolStream } from '../../../runs/streams/streams.ts'
import type { LiveBody } from '../../api/route.ts'
import type { Outflow } from '../../server/outflow.ts'
import { createCompactEncoder, createSharedEncoder, protocolFrames } from './frames.ts'
import { createHeartbeats, HEARTBEAT, HEARTBEAT_MS } from './heartbeats.ts'

/** Streams of events as bodies of responses, of type `text/event-stream`. */
export interface Sse {
  /**
   * Counts an open stream of `holder`; the returned function releases it.
   * @throws AppError too_many_streams
   */
  enter(holder: string): () => void
  /**
   * The body of a stream, with the share of unsent bytes of `holder` (`Outflow`). `compact`: metadata of messages is sent
   * only once. A client that reads nothing for a minute is disconnected; it can resume with its last event id.
   */
  body(stream: EventStream, options: { compact: boolean; holder: string }): LiveBody
  /** The body of a stream of protocol v2, written in the same way. */
  protocolBody(stream: ProtocolStream, holder: string): LiveBody
  /** The body of a stream whose frames are complete, written in the same way; `close` ends the source of the frames. */
  framesBody(
    frames: AsyncIterable<readonly Uint8Array[]>,
    options: { holder: string; close(): void },
  ): LiveBody
}

/** Bounds of open streams. */
export interface StreamPlaces {
  at_once: number
  at_once_per_key: number
}

export function createSse({
  logger,
  outflow,
  limits,
  heartbeat_ms = HEARTBEAT_MS,
}: {
  logger: Logger
  outflow: Outflow
  limits: StreamPlaces
  heartbeat_ms?: number
}): Sse {
  const heartbeats = createHeartbeats(HEARTBEAT, heartbeat_ms)
  const encodeShared = createSharedEncoder()
  const places = createPlaces(limits)

  const writeAll = async (
    res: ServerResponse,
    pieces: AsyncIterable<readonly Uint8Array[]>,
    holder: string,
  ): Promise<void> => {
    for await (const some of pieces) {
      heartbeats.wrote(res)
      for (const bytes of some) if (!(await outflow.write(holder, res, bytes))) return
    }
  }

  const bodyOf = (
    pieces: AsyncIterable<readonly Uint8Array[]>,
    holder: string,
    close: () => void,
  ): LiveBody => ({
    async writeTo(res) {
      heartbeats.join(res)
      try {
        await writeAll(res, pieces, holder)
      } catch (error) {
        if (toAppError(error).code !== 'shutting_down')
          logger.warn({ err: error }, 'a stream ended with an error')
        throw error
      } finally {
        heartbeats.leave(res)
      }
    },
    close,
  })

  return {
    enter: places.enter,
    body(stream, { compact, holder }) {
      const encode = compact ? createCompactEncoder() : encodeShared
      return bodyOf(encoded(stream.batches, encode), holder, () => stream.close())
    },
    protocolBody: (stream, holder) =>
      bodyOf(encoded(stream.batches, protocolFrames), holder, () => stream.close()),
    framesBody: (frames, { holder, close }) => bodyOf(frames, holder, close),
  }
}

async function* encoded<T>(
  batches: AsyncIterable<T>,
  encode: (batch: T) => readonly Uint8Array[],
): AsyncGenerator<readonly Uint8Array[]> {
  for await (const batch of batches) yield encode(batch)
}

/** Counts open streams, of each caller and of all. */
export function createPlaces({ at_once, at_once_per_key }: StreamPlaces) {
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
