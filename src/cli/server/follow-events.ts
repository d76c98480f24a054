import { setTimeout as delay } from 'node:timers/promises'
import { readEvents, type StreamEvent } from '../../base/text/event-stream.ts'
import { type ApiClient, Refusal } from './api-client.ts'

export interface FollowedStream {
  /** Cursor of the first request. */
  from: string | undefined
  /** Number of successive failures after which the last one is thrown. */
  tries: number
  print(event: StreamEvent): void
  /** Called when the server has closed the stream. Returns whether the stream is complete. */
  isOver(): Promise<boolean> | boolean
}

const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000

/**
 * Reads a stream of events to its end; after a break it reconnects after the last event, with growing pauses.
 * @throws Refusal, and the last failure after `tries`
 */
export async function followEvents(
  api: ApiClient,
  path: string,
  { from, tries, print, isOver }: FollowedStream,
): Promise<void> {
  let cursor = from
  let failures = 0
  for (;;) {
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(cursor !== undefined && { 'last-event-id': cursor }),
      }
      const { body } = await api.open(path, { headers }, new AbortController().signal)
      for await (const event of body === null ? [] : readEvents(body)) {
        failures = 0
        cursor = event.id ?? cursor
        print(event)
      }
      if (await isOver()) return
    } catch (error) {
      if (isFinal(error) && (await isOver())) return
      if (isFinal(error) || ++failures > tries) throw error
    }
    await delay(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures))
  }
}

/** Whether a retry is useless. */
function isFinal(error: unknown): boolean {
  return error instanceof Refusal && error.answered < 500 && error.answered !== 429
}
