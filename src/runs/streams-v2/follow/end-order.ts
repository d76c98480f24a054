import { pause } from '../../../base/pause.ts'

/**
 * The order in which the streams of one client send the end of a run. Clients have one stream for lifecycle and input,
 * and others for the content of runs. When a client gets the end on one of its streams, it shows only the content that
 * has arrived by then (V-31). So the stream for lifecycle and input sends the end last.
 */
export interface EndOrder {
  /** Adds a stream of the content of runs. */
  enter(client: string): OrderedStream
  /**
   * Resolves when a stream for lifecycle and input may send the end of the run; at the latest after a quarter of a
   * second.
   */
  turn(client: string, run_id: string, signal: AbortSignal): Promise<void>
}

export interface OrderedStream {
  /** Must be called before items are sent; `wasSent` must be called after that. */
  isSending(): void
  wasSent(): void
  /** Must be called after the end of the run was sent to the client. */
  sentEnd(run_id: string): void
  leave(): void
}

const HELD_MS = 250
const LOOK_MS = 10
/** Time for which a stream may be sending before its client counts as slow. */
const AHEAD_MS = 50
/** Maximum number of ends kept for one stream. */
const MAX_ENDS = 16

interface Stream {
  ended: Set<string>
  /** Time of the last `isSending`; undefined after `wasSent`. */
  sending_since: number | undefined
}

/** Whether the stream will soon send the end; false if its client does not read. */
function willSendEnd({ ended, sending_since }: Stream, run_id: string): boolean {
  const isBehind = sending_since !== undefined && performance.now() - sending_since > AHEAD_MS
  return !ended.has(run_id) && !isBehind
}

export function createEndOrder(): EndOrder {
  const clients = new Map<string, Set<Stream>>()
  return {
    enter(client) {
      const streams = clients.get(client) ?? new Set()
      clients.set(client, streams)
      const stream: Stream = { ended: new Set(), sending_since: undefined }
      streams.add(stream)
      return {
        isSending: () => void (stream.sending_since = performance.now()),
        wasSent: () => void (stream.sending_since = undefined),
        sentEnd(run_id) {
          stream.ended.add(run_id)
          const [oldest] = stream.ended
          if (stream.ended.size > MAX_ENDS && oldest !== undefined) stream.ended.delete(oldest)
        },
        leave() {
          streams.delete(stream)
          if (streams.size === 0 && clients.get(client) === streams) clients.delete(client)
        },
      }
    },
    async turn(client, run_id, signal) {
      const streams = clients.get(client)
      if (streams === undefined) return
      const latest = performance.now() + HELD_MS
      const isWaited = (): boolean => [...streams].some((stream) => willSendEnd(stream, run_id))
      while (isWaited() && performance.now() < latest && !signal.aborted) await pause(LOOK_MS, signal)
      await pause(AHEAD_MS, signal)
    },
  }
}
