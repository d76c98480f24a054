import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { EventLog, ReadFrom, ThreadRef } from '../../../src/events/event-log.ts'
import { describeEventLogs } from '../../support/runs/streams/event-logs.ts'
import { TENANT } from '../../support/runs/run-store.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

/** The first letter of the data of the first event that a reader gets, or `gap`. */
async function firstOf(log: EventLog, thread: ThreadRef, from: ReadFrom): Promise<string | undefined> {
  const end = new AbortController()
  for await (const [first] of log.read(thread, from, end.signal)) {
    end.abort()
    return first === undefined || 'gap' in first ? 'gap' : first.data.at(0)
  }
  return undefined
}

// Redis has a limit of its own: maxmemory.
describeEventLogs(
  'the events of all threads',
  (engine) => {
    it('STREAM-18: have a limit, beyond which the oldest are deleted', async () => {
      let now = NOW
      const bounds = { events: 1000, chars: 1e6, age_ms: 1e9, total_chars: 1000 }
      const { log, store } = await engine.open({ clock: testClock(() => now), bounds })
      const threads = ['1', '2', '3'].map((): ThreadRef => ({ ...TENANT, thread_id: randomUUID() }))
      for (const letter of ['a', 'b']) {
        for (const thread of threads) {
          now += 1000
          await log.append(thread, [{ run_id: null, event: 'values', data: letter.repeat(190) }], null)
        }
      }
      await store.trim(null)
      const kept = await Promise.all(threads.map((thread) => firstOf(log, thread, 'start')))
      expect(kept).toEqual(['b', 'a', 'a'])
      const [first] = threads
      if (first !== undefined) expect(await firstOf(log, first, { after: '0-1' })).toBe('gap')
    })

    it('STREAM-18: no more are deleted than the limit asks for, also when many have the same time', async () => {
      let now = NOW
      const bounds = { events: 1000, chars: 1e6, age_ms: 1e9, total_chars: 1000 }
      const { log, store } = await engine.open({ clock: testClock(() => now), bounds })
      const append = async (letter: string, chars: number): Promise<ThreadRef[]> => {
        now += 1000
        const items = [{ run_id: null, event: 'values', data: letter.repeat(chars) }]
        const threads = Array.from({ length: 600 }, () => ({ ...TENANT, thread_id: randomUUID() }))
        await store.append(threads.map((thread) => ({ thread, lease: null, items })))
        return threads
      }
      const [[old], [young]] = [await append('a', 10), await append('b', 1)]
      await store.trim(null)
      expect(await firstOf(log, old!, { after: '0-1' })).toBe('gap')
      expect(await firstOf(log, young!, 'start')).toBe('b')
    })
  },
  { redis: false },
)
