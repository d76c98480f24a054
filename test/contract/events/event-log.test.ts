import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isAfter } from '../../../src/events/id.ts'
import type {
  EventDraft,
  EventLog,
  Gap,
  ReadFrom,
  StoredEvent,
  ThreadRef,
} from '../../../src/events/event-log.ts'
import { eventually } from '../../support/eventually.ts'
import { describeEventLogs, type LogProcess } from '../../support/runs/streams/event-logs.ts'
import { endOf, started, TENANT } from '../../support/runs/run-store.ts'
import { tries } from '../../support/properties.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

type Item = StoredEvent | Gap

const BOUNDS = { events: 1000, chars: 1e6, age_ms: 1e9, total_chars: 1e12 }

function newThread(): ThreadRef {
  return { ...TENANT, thread_id: randomUUID() }
}

function draft(data: string | number, run_id: string | null = null): EventDraft {
  return { event: 'values', data: String(data), run_id }
}

function drafts(count: number, from = 0): EventDraft[] {
  return Array.from({ length: count }, (_, index) => draft(from + index))
}

function dataOf(items: readonly Item[]): string[] {
  return items.map((item) => ('gap' in item ? 'gap' : item.data))
}

function numbers(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => String(from + index))
}

/** Reads until `count` items have arrived. Checks that their ids increase. */
async function take(log: EventLog, thread: ThreadRef, from: ReadFrom, count: number): Promise<Item[]> {
  const end = new AbortController()
  const found: Item[] = []
  for await (const batch of log.read(thread, from, end.signal)) {
    expect(batch.length).toBeGreaterThan(0)
    found.push(...batch)
    if (found.length >= count) break
  }
  end.abort()
  const ids = found.flatMap((item) => ('gap' in item ? [] : [item.id]))
  const isRising = ids.every((id, index) => index === 0 || isAfter(id, ids[index - 1] ?? ''))
  expect(isRising).toBe(true)
  return found
}

async function append(log: EventLog, thread: ThreadRef, items: readonly EventDraft[]): Promise<string[]> {
  const ids = await log.append(thread, items, null)
  if (ids === 'lost') throw new Error('lost without a lease')
  return ids
}

/** All events of the thread; the read ends when the thread is dropped. */
async function readAll(log: EventLog, thread: ThreadRef, from: ReadFrom): Promise<Item[]> {
  const found: Item[] = []
  for await (const batch of log.read(thread, from, new AbortController().signal)) found.push(...batch)
  return found
}

describeEventLogs('an event log', (engine) => {
  it('sends each reader everything after its id exactly once and in order, with any appends meanwhile', async () => {
    const { log } = await engine.open()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.nat(),
        async (writers, choice) => {
          const thread = newThread()
          const total = writers.flat().reduce((sum, size) => sum + size, 0)
          const live = [0, 1].map(() => take(log, thread, 'start', total))
          const appended = await Promise.all(
            writers.map(async (sizes, writer) => {
              const ids: string[] = []
              for (const [index, size] of sizes.entries()) {
                const items = Array.from({ length: size }, (_, n) => draft(`${writer}.${index}.${n}`))
                ids.push(...(await append(log, thread, items)))
              }
              return ids
            }),
          )
          const [one, two] = await Promise.all(live)
          expect(one).toEqual(two)
          const ids = (one ?? []).map((item) => ('gap' in item ? 'gap' : item.id))
          expect(new Set(ids)).toEqual(new Set(appended.flat()))
          // The events of each writer keep their order.
          for (const own of appended) expect(ids.filter((id) => own.includes(id))).toEqual(own)
          const at = choice % ids.length
          const rest = ids.slice(at + 1)
          if (rest.length === 0) return
          const again = await take(log, thread, { after: ids[at] ?? '' }, rest.length)
          expect(again).toEqual(one?.slice(at + 1))
        },
      ),
      tries(engine.name === 'memory' ? 60 : 3),
    )
  })

  it('begins with the oldest event, or after an id', async () => {
    const { log } = await engine.open()
    const thread = newThread()
    await log.check(thread)
    expect(await log.last(thread)).toBeNull()
    const [first = ''] = await append(log, thread, [draft('before')])
    expect(await log.last(thread)).toBe(first)
    const next = take(log, thread, { after: first }, 1)
    await append(log, newThread(), [draft('of another')])
    await append(log, thread, [draft('after')])
    expect(dataOf(await next)).toEqual(['after'])
    expect(dataOf(await take(log, thread, 'start', 2))).toEqual(['before', 'after'])
    expect(dataOf(await take(log, thread, { after: first }, 1))).toEqual(['after'])
    expect(dataOf(await take(log, thread, { after: '0-0' }, 2))).toEqual(['before', 'after'])
    expect(() => log.read(thread, { after: 'x' }, AbortSignal.abort())).toThrow('not an event id')
  })

  it('stores events unchanged', async () => {
    const { log } = await engine.open()
    const thread = newThread()
    const items: EventDraft[] = [
      { run_id: 'r', event: 'messages|a:1|b:2', data: '{"text":"ä\\n\u2028 😀"}' },
      { run_id: null, event: 'state_update', data: '' },
      { run_id: 'r', event: 'custom', data: '"|?\'$1"' },
      { run_id: 's', event: 'custom', data: 'null' },
    ]
    const live = take(log, thread, 'start', items.length)
    const ids = await append(log, thread, items)
    const stored = items.map((item, index) => ({ ...item, id: ids[index], position: index }))
    expect(await live).toEqual(stored)
    expect(await take(log, thread, 'start', items.length)).toEqual(stored)
  })

  it('passes the same objects to all live readers', async () => {
    const { log } = await engine.open()
    const thread = newThread()
    const readers = Array.from({ length: 200 }, () => take(log, thread, 'start', 1000))
    for (let n = 0; n < 1000; n += 10) await append(log, thread, drafts(10, n))
    const [first = [], ...others] = await Promise.all(readers)
    expect(dataOf(first)).toEqual(numbers(1000))
    expect(others.every((other) => other.every((item, index) => item === first[index]))).toBe(true)
  })

  it('ends its readers with their signal, and with the thread after its last event', async () => {
    const { log } = await engine.open()
    const thread = newThread()
    const third = (await append(log, thread, drafts(3))).at(-1) ?? ''
    const end = new AbortController()
    const stopped = (async () => {
      let count = 0
      for await (const batch of log.read(thread, { after: third }, end.signal)) count += batch.length
      return count
    })()
    const live = readAll(log, thread, { after: third })
    await append(log, thread, drafts(2, 3))
    end.abort()
    await stopped
    await log.drop(thread)
    expect(dataOf(await live)).toEqual(numbers(2, 3))
    expect(await log.last(thread)).toBeNull()
    const reborn = take(log, thread, 'start', 1)
    await append(log, thread, [draft('new')])
    expect(dataOf(await reborn)).toEqual(['new'])
  })

  it('reports a gap, once, before the oldest stored event', async () => {
    const { log, store } = await engine.open({ bounds: { ...BOUNDS, events: 4 } })
    const thread = newThread()
    const ids: string[] = []
    for (let n = 0; n < 6; n++) ids.push(...(await append(log, thread, [draft(n)])))
    await store.trim(thread)
    const read = await take(log, thread, { after: ids[0] ?? '' }, 5)
    expect(dataOf(read)).toEqual(['gap', '2', '3', '4', '5'])
    expect(read[0]).toEqual({ gap: { requested: ids[0], oldest: ids[2] } })
    expect(dataOf(await take(log, thread, { after: ids[1] ?? '' }, 4))).toEqual(['2', '3', '4', '5'])
    expect(dataOf(await take(log, thread, 'start', 4))).toEqual(['2', '3', '4', '5'])
  })

  it('reports to slow readers which events they have missed', async () => {
    const { log, store } = await engine.open({ bounds: { ...BOUNDS, events: 2 } })
    const thread = newThread()
    const end = new AbortController()
    const reader = log.read(thread, 'start', end.signal)[Symbol.asyncIterator]()
    const first = reader.next()
    const [id] = await append(log, thread, [draft(0)])
    expect(dataOf((await first).value as Item[])).toEqual(['0'])
    // These events are larger than what the log keeps in memory for slow readers.
    for (let n = 1; n < 10; n++) await append(log, thread, [draft('x'.repeat(600_000)), draft(n)])
    await store.trim(thread)
    const next = (await reader.next()).value as Item[]
    expect(dataOf(next)).toEqual(['gap'])
    expect(next[0]).toMatchObject({ gap: { requested: id } })
    const rest: Item[] = []
    while (rest.length < 2) rest.push(...((await reader.next()).value as Item[]))
    expect(dataOf(rest).map((data) => data.length)).toEqual([600_000, 1])
    end.abort()
    expect((await reader.next()).done).toBe(true)
  })

  it('deletes events by size and by age, and reports this at once', async () => {
    let now = NOW
    const { log, store } = await engine.open({
      clock: testClock(() => now),
      bounds: { events: 1000, chars: 1000, age_ms: 3_600_000, total_chars: 1e12 },
    })
    const thread = newThread()
    const ids: string[] = []
    for (const data of ['a', 'b', 'c']) ids.push(...(await append(log, thread, [draft(data.repeat(400))])))
    await store.trim(thread)
    expect(dataOf(await take(log, thread, { after: ids[0] ?? '' }, 2))).toEqual([
      'b'.repeat(400),
      'c'.repeat(400),
    ])
    expect(dataOf(await take(log, thread, { after: '0-0' }, 1))).toEqual(['gap'])
    now += 3_600_001
    await store.trim(null)
    await store.trim(thread)
    expect(await take(log, thread, { after: ids[1] ?? '' }, 1)).toEqual([
      { gap: { requested: ids[1], oldest: null } },
    ])
    // A reader that already has the last event has missed none.
    const after = take(log, thread, { after: ids[2] ?? '' }, 1)
    await append(log, thread, [draft('d')])
    expect(dataOf(await after)).toEqual(['d'])
  })

  it('does not return events after an id when the log was deleted', async () => {
    const { log } = await engine.open()
    const id = '1700000000000-3'
    expect(await take(log, newThread(), { after: id }, 1)).toEqual([{ gap: { requested: id, oldest: null } }])
  })

  it('holds little memory for a reader that has stopped, and loses nothing for it', async () => {
    const { log } = await engine.open()
    const thread = newThread()
    const end = new AbortController()
    const slow = log.read(thread, 'start', end.signal)[Symbol.asyncIterator]()
    const data = 'x'.repeat(1000)
    const first = slow.next()
    for (let n = 0; n < 60; n++)
      await append(
        log,
        thread,
        Array.from({ length: 100 }, (_, index) => draft(`${n * 100 + index}${data}`)),
      )
    const read = [...((await first).value as Item[])]
    while (read.length < 6000) {
      const batch = (await slow.next()).value as Item[]
      expect(batch.length).toBeLessThanOrEqual(1000)
      read.push(...batch)
    }
    end.abort()
    expect(dataOf(read).map((text) => Number.parseInt(text, 10))).toEqual([...Array(6000).keys()])
  })

  it('stores events of any size', async () => {
    const { log } = await engine.open()
    const thread = newThread()
    const large = 'ü'.repeat(5 << 20)
    const live = take(log, thread, 'start', 1602)
    await append(log, thread, [...drafts(800), draft(large), ...drafts(800, 800), draft('end')])
    const expected = [...numbers(800), large, ...numbers(800, 800), 'end']
    expect(dataOf(await live)).toEqual(expected)
    expect(dataOf(await take(log, thread, 'start', 1602))).toEqual(expected)
  })

  it('assigns increasing ids also when the clock goes back', async () => {
    let now = NOW
    const { log } = await engine.open({ clock: testClock(() => now) })
    const thread = newThread()
    const ids = await append(log, thread, drafts(2))
    now -= 40_000
    ids.push(...(await append(log, thread, drafts(2))))
    now = NOW + 10_000
    ids.push(...(await append(log, thread, drafts(1))))
    expect(ids).toEqual([...[0, 1, 2, 3].map((seq) => `${NOW}-${seq}`), `${NOW + 10_000}-0`])
  })

  it('refuses appends without the lease, and no others', async () => {
    const { log, runs } = await engine.open()
    if (runs === undefined) return
    const thread = newThread()
    const claim = await started(runs, thread.thread_id)
    const other = await started(runs, newThread().thread_id)
    const lease = { run_id: claim.run_id, token: claim.token, attempt: 1 }
    const live = take(log, thread, 'start', 3)
    expect(await log.append(thread, [draft(0)], lease)).toHaveLength(1)
    const wrong = [
      { ...lease, token: randomUUID() },
      { run_id: other.run_id, token: other.token, attempt: 1 },
    ]
    for (const one of wrong) expect(await log.append(thread, [draft('no')], one)).toBe('lost')
    await runs.finish(claim, endOf('success'))
    const both = [log.append(thread, [draft('no')], lease), log.append(thread, [draft(1)], null)]
    expect((await Promise.all(both)).map((ids) => ids.length)).toEqual(['lost'.length, 1])
    await append(log, thread, [draft(2)])
    expect(dataOf(await live)).toEqual(['0', '1', '2'])
  })

  it('loses nothing without a gap, for slow readers and any deletion', async () => {
    const bounds = { ...BOUNDS, events: 30 }
    const { log, store } = await engine.open({ bounds })
    const thread = newThread()
    const total = 600
    const read = async (turns: number): Promise<void> => {
      let next = 0
      let gaps = 0
      for await (const batch of log.read(thread, { after: '0-0' }, new AbortController().signal)) {
        for (const item of batch) {
          if ('gap' in item) gaps++
          else {
            const number = Number.parseInt(item.data, 10)
            if (number > next) expect(gaps).toBe(1)
            else expect([number, gaps]).toEqual([next, 0])
            gaps = 0
            next = number + 1
          }
        }
        if (next === total) return
        for (let turn = 0; turn < turns; turn++) await new Promise((done) => setImmediate(done))
      }
    }
    const readers = [0, 1, 5, 20].map(read)
    // The data is so long that the log no longer keeps all events in memory that slow readers need.
    const data = 'x'.repeat(20_000)
    for (let n = 0; n < total; n += 3) {
      const items = [0, 1, 2].map((index) => draft(`${n + index}${data}`))
      await Promise.all([log.append(thread, items, null), store.trim(thread)])
    }
    await Promise.all(readers)
  })

  if (engine.durable)
    it('survives its process, including the record of deleted events', async () => {
      let now = NOW
      const options = { clock: testClock(() => now), bounds: { ...BOUNDS, events: 3 } }
      const before = await engine.open(options)
      const thread = newThread()
      const ids: string[] = []
      for (let n = 0; n < 5; n++) ids.push(...(await append(before.log, thread, [draft(n)])))
      await before.store.trim(thread)
      now -= 4_000_000
      const { log } = await engine.openAgain(options)
      expect(dataOf(await take(log, thread, { after: ids[2] ?? '' }, 2))).toEqual(['3', '4'])
      expect(dataOf(await take(log, thread, { after: ids[0] ?? '' }, 1))).toEqual(['gap'])
      const [next = ''] = await append(log, thread, [draft(5)])
      expect(isAfter(next, ids[4] ?? '')).toBe(true)
      expect(dataOf(await take(log, thread, 'start', 4))).toEqual(['2', '3', '4', '5'])
    })

  if (engine.shared)
    it('is one log for all processes', async () => {
      const one = await engine.open()
      const two = await engine.openAgain()
      const thread = newThread()
      const readers = [one, two].flatMap(({ log }) => [
        take(log, thread, 'start', 400),
        take(log, thread, 'start', 400),
      ])
      const write = async ({ log }: LogProcess, name: string): Promise<void> => {
        for (let n = 0; n < 100; n++) await append(log, thread, [draft(`${name}${n}`), draft(`${name}${n}'`)])
      }
      await Promise.all([write(one, 'a'), write(two, 'b')])
      const [first = [], ...others] = await Promise.all(readers)
      for (const other of others) expect(other).toEqual(first)
      const of = (name: string): string[] => dataOf(first).filter((data) => data.startsWith(name))
      for (const name of ['a', 'b']) {
        expect(of(name)).toEqual(
          Array.from({ length: 100 }, (_, n) => [`${name}${n}`, `${name}${n}'`]).flat(),
        )
      }
      // A reader that has reached the end also gets events that were appended while notifications were lost.
      const from = { after: (await two.log.last(thread)) ?? '' }
      const reader = two.log.read(thread, from, new AbortController().signal)[Symbol.asyncIterator]()
      const next = async (): Promise<string[]> => dataOf((await reader.next()).value as Item[])
      const heard = next()
      await append(one.log, thread, [draft('heard')])
      expect(await heard).toEqual(['heard'])
      const unheard = next()
      await engine.deafen()
      await append(one.log, thread, [draft('unheard')])
      expect(await unheard).toEqual(['unheard'])
      const end = reader.next()
      await one.log.drop(thread)
      expect((await end).done).toBe(true)
      await eventually(async () => expect(await two.log.last(thread)).toBeNull())
    })
})
