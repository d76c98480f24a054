import { expect } from 'vitest'
import type { EventStream } from '../../../../src/runs/streams/streams.ts'
import { eventually } from '../../eventually.ts'

/** Events that a client has received so far: their names and data, or `gap`. */
export interface Seen {
  events: [event: string, data: unknown][]
  ids: string[]
  /** Resolves when the stream has ended; rejects if the stream was cut. */
  ended: Promise<void>
}

export function watch(stream: EventStream): Seen {
  const seen: Omit<Seen, 'ended'> = { events: [], ids: [] }
  const read = async (): Promise<void> => {
    for await (const batch of stream.batches) {
      for (const item of batch) {
        if ('gap' in item) seen.events.push(['gap', item.gap])
        else {
          seen.events.push([item.event, JSON.parse(item.data)])
          seen.ids.push(item.id)
        }
      }
    }
  }
  const ended = read().finally(() => stream.close())
  ended.catch(() => undefined)
  return Object.assign(seen, { ended })
}

/** Waits until `count` events have arrived. */
export function has(seen: Seen, count: number): Promise<void> {
  return eventually(async () => expect(seen.events.length).toBeGreaterThanOrEqual(count))
}

export function names({ events }: Seen): string[] {
  return events.map(([event]) => event)
}
