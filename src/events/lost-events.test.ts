import { expect, it, vi } from 'vitest'
import { createMemoryEventStore } from '../../test/support/runs/streams/memory-event-store.ts'
import { createLogger } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import { createEventLog } from './create-event-log.ts'
import type { EventStore, LogChange } from './event-store.ts'
import { NOW, testClock } from '../../test/support/faults/test-clock.ts'

const THREAD = { workspace_id: 'w', deployment_id: 'd', thread_id: 't' }
const BOUNDS = { events: 1e6, chars: 1e9, age_ms: 1e9, total_chars: 1e12 }
const append = async (store: EventStore, ...events: string[]): Promise<void> => {
  const items = events.map((event) => ({ run_id: 'r', event, data: '' }))
  await store.append([{ thread: THREAD, items, lease: null }])
}

it.each([1, 2, 3])(
  'a reader gets the events that follow when the store has lost the last ones, and %i more come',
  async (more) => {
    let ms = NOW
    const clock = testClock(() => ms++)
    // Two stores take the place of a Redis primary and its replica; the replica lacks the last events.
    const primary = createMemoryEventStore(clock, BOUNDS)
    const replica = createMemoryEventStore(clock, BOUNDS)
    const first = vi.spyOn(clock, 'now').mockReturnValue(NOW - 1)
    for (const store of [primary, replica]) await append(store, 'first')
    first.mockRestore()
    let now = primary
    let tell: (change: LogChange) => void = () => undefined
    const store: EventStore = {
      ...primary,
      append: (appends) => now.append(appends),
      page: (thread, after) => now.page(thread, after),
      listen: (onChange) => void (tell = onChange),
    }
    const log = createEventLog({ store, logger: createLogger({ level: 'silent' }), metrics: createMetrics() })
    const seen: string[] = []
    const reading = (async () => {
      for await (const batch of log.read(THREAD, 'start', new AbortController().signal)) {
        for (const item of batch) seen.push('gap' in item ? 'gap' : item.event)
      }
    })()
    await append(primary, 'lost', 'also lost')
    tell({ kind: 'appended', thread: THREAD })
    await vi.waitFor(() => expect(seen).toEqual(['first', 'lost', 'also lost']))
    now = replica
    tell({ kind: 'missed' })
    const names = Array.from({ length: more }, (_, index) => `new ${index}`)
    for (const name of names) {
      await append(replica, name)
      tell({ kind: 'appended', thread: THREAD })
    }
    await vi.waitFor(() => expect(seen).toEqual(['first', 'lost', 'also lost', ...names]))
    await log.close()
    await reading
  },
)
