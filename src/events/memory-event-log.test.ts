import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventLog, Gap, ReadFrom, StoredEvent } from './event-log.ts'
import { createMemoryEventLog } from './memory-event-log.ts'

const THREAD = { workspace_id: 'w', deployment_id: 'd', thread_id: 't' }
const OTHER = { ...THREAD, thread_id: 'other' }
const ROOMY = { events: 1000, chars: 1 << 20, total_chars: 1 << 20, age_ms: 1000 }

function eventOf(data: string) {
  return { event: 'values', data, run_id: 'r' }
}

/** Reads until `count` items came. */
async function take(
  log: EventLog,
  from: ReadFrom,
  count: number,
  thread = THREAD,
): Promise<(StoredEvent | Gap)[]> {
  const end = new AbortController()
  const found: (StoredEvent | Gap)[] = []
  for await (const item of log.read(thread, from, end.signal)) {
    found.push(item)
    if (found.length === count) break
  }
  end.abort()
  return found
}

function dataOf(items: readonly (StoredEvent | Gap)[]): string[] {
  return items.map((item) => ('gap' in item ? 'gap' : item.data))
}

describe('a reader', () => {
  it('gets everything after its id exactly once and in order, however appends and clock go', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ size: fc.integer({ min: 1, max: 5 }), step: fc.integer({ min: -3, max: 3 }) }), {
          minLength: 1,
          maxLength: 20,
        }),
        fc.nat(),
        async (batches, choice) => {
          let now = 1000
          const log = createMemoryEventLog({ now: () => now }, ROOMY)
          const ids: string[] = []
          const live = take(
            log,
            'start',
            batches.reduce((sum, { size }) => sum + size, 0),
          )
          for (const { size, step } of batches) {
            now += step
            const items = Array.from({ length: size }, (_, n) => eventOf(String(ids.length + n)))
            ids.push(...((await log.append(THREAD, items, null)) as string[]))
          }
          const all = ids.map((_, n) => String(n))
          expect(dataOf(await live)).toEqual(all)
          const at = choice % ids.length
          const rest = all.slice(at + 1)
          if (rest.length > 0) {
            expect(dataOf(await take(log, { after: ids[at] ?? '' }, rest.length))).toEqual(rest)
          }
        },
      ),
    )
  })

  it('that begins now gets what comes next', async () => {
    const log = createMemoryEventLog({ now: () => 1 }, ROOMY)
    await log.append(THREAD, [eventOf('before')], null)
    const reading = take(log, 'now', 1)
    await log.append(OTHER, [eventOf('of another')], null)
    await log.append(THREAD, [eventOf('after')], null)
    expect(dataOf(await reading)).toEqual(['after'])
  })

  it('ends with its signal, and with its thread', async () => {
    const log = createMemoryEventLog({ now: () => 1 }, ROOMY)
    const end = new AbortController()
    const read = async (): Promise<number> => {
      let count = 0
      for await (const _item of log.read(THREAD, 'start', end.signal)) count++
      return count
    }
    const dropped = read()
    await log.append(THREAD, [eventOf('1')], null)
    await log.drop(THREAD)
    const stopped = read()
    end.abort()
    await Promise.all([dropped, stopped])
  })

  it('must name a real id', () => {
    const log = createMemoryEventLog({ now: () => 1 }, ROOMY)
    expect(() => log.read(THREAD, { after: 'x' }, AbortSignal.abort())).toThrow('not an event id')
  })
})

describe('what is no longer kept', () => {
  it('gives a gap, once, before the oldest', async () => {
    const log = createMemoryEventLog({ now: () => 1 }, { ...ROOMY, events: 4 })
    const ids = (await log.append(THREAD, ['1', '2', '3', '4', '5', '6'].map(eventOf), null)) as string[]
    const read = await take(log, { after: ids[0] ?? '' }, 3)
    expect(dataOf(read)).toEqual(['gap', '3', '4'])
    expect(read[0]).toEqual({ gap: { requested: ids[0], oldest: (read[1] as StoredEvent).id } })
    expect(dataOf(await take(log, 'start', 1))).not.toEqual(['gap'])
    expect(dataOf(await take(log, { after: ids[4] ?? '' }, 1))).toEqual(['6'])
  })

  it('reaches readers that are too slow', async () => {
    const log = createMemoryEventLog({ now: () => 1 }, { ...ROOMY, events: 2 })
    const end = new AbortController()
    const reader = log.read(THREAD, 'start', end.signal)[Symbol.asyncIterator]()
    await log.append(THREAD, [eventOf('1')], null)
    expect(dataOf([(await reader.next()).value as StoredEvent])).toEqual(['1'])
    for (const data of ['2', '3', '4', '5']) await log.append(THREAD, [eventOf(data)], null)
    const rest = [(await reader.next()).value, (await reader.next()).value] as (StoredEvent | Gap)[]
    expect(dataOf(rest)[0]).toBe('gap')
    end.abort()
  })

  it('is forgotten by age and by size, of the thread that was silent longest', async () => {
    let now = 0
    const log = createMemoryEventLog({ now: () => now }, { ...ROOMY, total_chars: 1000 })
    await log.append(OTHER, [eventOf('old')], null)
    now = 500
    await log.append(THREAD, [eventOf('x'.repeat(900))], null)
    expect(dataOf(await take(log, { after: '0-0' }, 1, OTHER))).toEqual(['gap'])
    now = 5000
    await log.append(OTHER, [eventOf('new')], null)
    expect(dataOf(await take(log, { after: '500-0' }, 1))).toEqual(['gap'])
    expect(dataOf(await take(log, 'start', 1, OTHER))).toEqual(['new'])
  })
})
