import { describe, expect, it } from 'vitest'
import { createMemoryEventStore } from '../../../../test/support/runs/streams/memory-event-store.ts'
import { createLogger } from '../../../base/log.ts'
import { createMetrics } from '../../../base/metrics.ts'
import { createEventLog } from '../../../events/create-event-log.ts'
import type { ThreadRef } from '../../../events/event-log.ts'
import { RUN_BEGUN, RUN_DONE, RUN_ENDING, RUN_STOPPED } from '../../../events/views.ts'
import type { Thread } from '../../model.ts'
import { EVERYTHING, type EventFilter } from '../filter.ts'
import { pendingInterrupts } from '../interrupts.ts'
import { type Following, followThread, type ProtocolItem } from './follow-thread.ts'
import { lastSeqOf, seqOf, sseIdOf } from '../protocol-event.ts'
import { createRunIndex } from './run-index.ts'
import { testClock } from '../../../../test/support/faults/test-clock.ts'

const REF: ThreadRef = { workspace_id: 'w', deployment_id: 'd', thread_id: 't' }
const BOUNDS = { events: 1e6, chars: 1e9, age_ms: 1e9, total_chars: 1e9 }
const NOTHING_UNSEEN: ReadonlySet<string> = new Set()

/**
 * A thread whose log the test writes. The first event is `age` milliseconds old. With `isStopped`, the clock of the
 * streams stays at the time of the last event.
 */
function newThread(bounds = BOUNDS, age = 1000, isStopped = false) {
  let now = Date.now() - age
  const store = createMemoryEventStore(
    testClock(() => ++now),
    bounds,
  )
  const logger = createLogger({ level: 'silent' })
  const events = createEventLog({ store, logger, metrics: createMetrics() })
  const index = createRunIndex(events)
  const broken: string[][] = []
  const turns: string[] = []
  const say = (run_id: string, event: string, data: object = {}) =>
    events.append(REF, [{ run_id, event, data: JSON.stringify(data) }], null)
  const thread = { status: 'idle', interrupts: {} } as unknown as Thread
  const follow = (following: Following, signal: AbortSignal, unseen = NOTHING_UNSEEN) =>
    followThread(
      { events, index, now: isStopped ? () => now : Date.now },
      {
        ref: REF,
        threadNow: async () => {
          await made.whileOpened()
          return thread
        },
        isGone: async () => made.isGone,
        waitingNow: async ({ interrupts }) => pendingInterrupts(interrupts),
      },
      following,
      {
        unseen,
        turn: async (run_id) => void turns.push(run_id),
        sent: () => undefined,
        broke: (runs) => void broken.push([...runs]),
      },
      signal,
    )
  const made = {
    events,
    thread,
    isGone: false,
    /** Called when a stream reads the thread; a test may replace it. */
    whileOpened: async (): Promise<unknown> => undefined,
    broken,
    turns,
    trim: () => store.trim(REF),
    say,
    begin: (run_id: string) => say(run_id, RUN_BEGUN, { graph_name: 'g', attempt: 1, answered: [] }),
    value: (run_id: string, n: number, event = 'values') => say(run_id, event, { n }),
    end: (run_id: string) => say(run_id, RUN_DONE, { run_status: 'success' }),
    /** A run that is cancelled while it is pending. */
    async cancel(run_id: string): Promise<void> {
      await say(run_id, RUN_ENDING, { graph_name: 'g' })
      await say(run_id, RUN_DONE, { run_status: 'interrupted' })
    },
    follow,
    /** The items of a stream that ends at the present end of the log. */
    async shown(following: Partial<Following> = {}, unseen = NOTHING_UNSEEN): Promise<ProtocolItem[]> {
      const last = lastSeqOf(await events.total(REF))
      const found: ProtocolItem[] = []
      const whole = { filter: EVERYTHING, after: undefined, until: () => last, ...following }
      for await (const items of follow(whole, new AbortController().signal, unseen)) found.push(...items)
      return found
    },
  }
  return made
}

/** Items as short text: `a+` is the beginning of run `a`, `a-` its end, `a1` its value 1. */
function inShort(items: readonly ProtocolItem[]): string {
  return items
    .map((item) => {
      if ('oldest' in item) return `gap ${item.requested}<${item.oldest}`
      const { event, n } = JSON.parse(item.data) as { event?: string; n?: number }
      if (item.method !== 'lifecycle') return `${item.run_id}${n}`
      return `${item.run_id}${event === 'running' ? '+' : '-'}`
    })
    .join(' ')
}

async function twoRuns(thread: ReturnType<typeof newThread>): Promise<void> {
  for (const run of ['a', 'b']) {
    await thread.begin(run)
    await thread.value(run, 1)
    await thread.value(run, 2, 'values|sub:1')
    await thread.end(run)
  }
}

it('the end of a run waits for other streams of the client, but not in a replay (V-30, V-31)', async () => {
  const thread = newThread()
  await twoRuns(thread)
  await thread.shown({ after: 0 })
  expect(thread.turns).toEqual([])
  await thread.shown({}, new Set(['a']))
  expect(thread.turns).toEqual(['a'])
})

it('RUN-19: a stream ends after the end of the run with which its thread was deleted', async () => {
  const thread = newThread()
  await twoRuns(thread)
  thread.isGone = true
  const found: ProtocolItem[] = []
  const stream = thread.follow({ filter: EVERYTHING, after: 0 }, new AbortController().signal)
  for await (const items of stream) found.push(...items)
  expect(inShort(found)).toBe('a+ a1 a2 a- b+ b1 b2 b-')
})

it('V-30: a stream from a number shows the events that have the numbers of lost ones again', async () => {
  const entry = (position: number, ms: number, event: string, data: object) => {
    return { id: `${ms}-0`, position, run_id: 'a', event, data: JSON.stringify(data) }
  }
  async function* read() {
    const begun = entry(0, 1, RUN_BEGUN, { graph_name: 'g', attempt: 1, answered: [] })
    yield [begun, entry(1, 2, 'values', { n: 1 }), entry(2, 3, 'values', { n: 2 })]
    // The log after a failover to a Redis replica that has only the first entry.
    yield [entry(1, 10, 'values', { n: 3 }), entry(2, 11, RUN_DONE, { run_status: 'success' })]
  }
  const run = { run_id: 'a', position: 0, before: '0-1', begun_at: 1, end: undefined }
  const log = { runs: [run], oldest: { id: '1-0', position: 0 }, total: 3, last: '3-0' }
  const stream = followThread(
    { events: { read }, index: { of: async () => log }, now: () => 1000 },
    { ref: REF, threadNow: async () => undefined, isGone: async () => false, waitingNow: async () => [] },
    { filter: EVERYTHING, after: seqOf(2, 0) },
    { unseen: NOTHING_UNSEEN, turn: async () => undefined, sent: () => undefined, broke: () => undefined },
    new AbortController().signal,
  )
  const found: ProtocolItem[] = []
  for await (const items of stream) found.push(...items)
  expect(inShort(found)).toBe('a3 a-')
})

describe('V-18: a run that is cancelled while it is pending', () => {
  it('ends after the run that goes on, whose end clients would take it for', async () => {
    const thread = newThread()
    await thread.begin('a')
    await thread.value('a', 1)
    await thread.cancel('b')
    await thread.value('a', 2)
    expect(inShort(await thread.shown())).toBe('a+ a1 a2')
    await thread.end('a')
    const all = await thread.shown({ after: 0 })
    expect(inShort(all)).toBe('a+ a1 a2 a- b-')
    expect(await thread.shown()).toEqual(all)
    for (const [at, item] of all.entries())
      if ('seq' in item) expect(await thread.shown({ after: item.seq })).toEqual(all.slice(at + 1))
  })

  it('ends at once while no run goes on, and is no run with which a stream begins', async () => {
    const thread = newThread()
    await twoRuns(thread)
    await thread.cancel('c')
    expect(inShort(await thread.shown({ after: seqOf(7, 1) }))).toBe('c-')
    await thread.begin('d')
    await thread.cancel('e')
    await thread.end('d')
    expect(inShort(await thread.shown())).toBe('d+ d- e-')
  })
})

describe('where a stream begins (V-29)', () => {
  it('with the last run; with a cursor after it; with 0 at the oldest event (V-30)', async () => {
    const thread = newThread()
    await twoRuns(thread)
    expect(inShort(await thread.shown())).toBe('b+ b1 b2 b-')
    const all = await thread.shown({ after: 0 })
    expect(inShort(all)).toBe('a+ a1 a2 a- b+ b1 b2 b-')
    for (const [at, item] of all.entries()) {
      if ('oldest' in item) continue
      expect(await thread.shown({ after: item.seq })).toEqual(all.slice(at + 1))
      const [id = '', k = '0'] = sseIdOf(item).split('.')
      expect(await thread.shown({ after: { id, k: Number(k) } })).toEqual(all.slice(at + 1))
    }
  })

  it('with the oldest run that is active', async () => {
    const thread = newThread()
    await thread.begin('a')
    await thread.end('a')
    await thread.begin('b')
    await thread.begin('c')
    await thread.end('c')
    await thread.value('b', 1)
    expect(inShort(await thread.shown())).toBe('b+ c+ c- b1')
  })

  it('with the oldest run whose end the caller was not sent when its connection broke', async () => {
    const thread = newThread()
    await thread.begin('a')
    await thread.value('a', 1)
    const gone = new AbortController()
    const stream = thread.follow({ filter: EVERYTHING, after: undefined }, gone.signal)
    expect(inShort((await stream.next()).value as ProtocolItem[])).toBe('a+ a1')
    gone.abort()
    await stream.next()
    expect(thread.broken).toEqual([['a']])
    await thread.end('a')
    await thread.begin('b')
    await thread.end('b')
    expect(inShort(await thread.shown())).toBe('b+ b-')
    expect(inShort(await thread.shown({}, new Set(['a'])))).toBe('a+ a1 a- b+ b-')
  })

  it('of older runs with what named subgraphs did', async () => {
    const thread = newThread()
    await twoRuns(thread)
    const filter: EventFilter = { channels: ['values'], namespaces: [['sub'], []] }
    expect(inShort(await thread.shown({ filter }))).toBe('a2 b1 b2')
  })

  it('now for lifecycle and input without namespaces, unless a run is active', async () => {
    const thread = newThread()
    await twoRuns(thread)
    const filter: EventFilter = { channels: ['input', 'lifecycle'], namespaces: [] }
    expect(inShort(await thread.shown({ filter }))).toBe('')
    expect(inShort(await thread.shown({ filter: { ...filter, namespaces: [[]] } }))).toBe('b+ b-')
    await thread.begin('c')
    expect(inShort(await thread.shown({ filter }))).toBe('c+')
  })

  it('V-29: with the oldest run that began a moment ago, also when it and later ones have ended', async () => {
    const thread = newThread(BOUNDS, 1000, true)
    await twoRuns(thread)
    expect(inShort(await thread.shown())).toBe('a+ a1 a2 a- b+ b1 b2 b-')
    const filter: EventFilter = { channels: ['input', 'lifecycle'], namespaces: [] }
    thread.thread.status = 'busy'
    expect(inShort(await thread.shown({ filter }))).toBe('a+ a- b+ b-')
  })

  it('V-29: with the last run when the clock was set back since, and without waiting for that clock', async () => {
    const thread = newThread(BOUNDS, -60_000)
    await twoRuns(thread)
    expect(inShort(await thread.shown())).toBe('b+ b1 b2 b-')
    expect(thread.turns).toEqual([])
  })

  it('now while a run waits that has not begun', async () => {
    const thread = newThread()
    await twoRuns(thread)
    thread.thread.status = 'busy'
    expect(inShort(await thread.shown())).toBe('')
  })
})

it('a run that ends while a stream is opened is shown, and no older one (V-29)', async () => {
  const thread = newThread()
  await twoRuns(thread)
  thread.thread.status = 'busy'
  await thread.begin('c')
  const gone = new AbortController()
  thread.whileOpened = () => thread.end('c')
  const stream = thread.follow({ filter: EVERYTHING, after: undefined }, gone.signal)
  expect(inShort((await stream.next()).value as ProtocolItem[])).toBe('c+')
  gone.abort()
  thread.thread.status = 'idle'
  thread.whileOpened = () => thread.begin('d').then(() => thread.end('d'))
  const next = thread.follow({ filter: EVERYTHING, after: undefined }, new AbortController().signal)
  expect(inShort((await next.next()).value as ProtocolItem[])).toBe('d+')
  await next.return(undefined)
})

describe('events that are no longer kept (V-30)', () => {
  it.each([true, false])(
    'a gap comes first when they were asked for; the log was known before: %s',
    async (known) => {
      const thread = newThread({ ...BOUNDS, events: 4 })
      await twoRuns(thread)
      if (known) expect(inShort(await thread.shown())).toBe('b+ b1 b2 b-')
      await thread.trim()
      expect(inShort(await thread.shown({ after: seqOf(1, 0) }))).toBe('gap 2048<5120 b+ b1 b2 b-')
      expect(inShort(await thread.shown({ after: seqOf(3, 0) }))).toBe('b+ b1 b2 b-')
      expect(inShort(await thread.shown({ after: { id: '1-0', k: 0 } }))).toBe('gap 1-0<5120 b+ b1 b2 b-')
      expect(inShort(await thread.shown())).toBe('b+ b1 b2 b-')
    },
  )

  it('a run whose beginning is not kept has what is, and its end, for those who come later and while it is active (V-18, V-29)', async () => {
    const thread = newThread({ ...BOUNDS, events: 4 })
    await thread.begin('a')
    for (let n = 0; n < 4; n++) await thread.value('a', n)
    await thread.trim()
    const live = thread.follow({ filter: EVERYTHING, after: undefined }, new AbortController().signal)
    expect(inShort((await live.next()).value as ProtocolItem[])).toBe('a0 a1 a2 a3')
    await thread.value('a', 4)
    expect(inShort((await live.next()).value as ProtocolItem[])).toBe('a4')
    await thread.end('a')
    expect(inShort((await live.next()).value as ProtocolItem[])).toBe('a-')
    await live.return(undefined)
    await thread.trim()
    expect(inShort(await thread.shown())).toBe('a2 a3 a4 a-')
    expect(inShort(await thread.shown({ after: seqOf(1, 0) }))).toBe('gap 2048<4096 a2 a3 a4 a-')
    await thread.begin('b')
    await thread.end('b')
    expect(inShort(await thread.shown())).toBe('b+ b-')
  })

  it('the end of a run that comes after the beginning of the next one is not shown without the rest (V-29)', async () => {
    const thread = newThread()
    await thread.begin('a')
    await thread.begin('b')
    await thread.say('a', 'error', { message: 'x' })
    await thread.end('a')
    await thread.end('b')
    expect(inShort(await thread.shown())).toBe('b+ b-')
  })

  it('a reader that is behind is told what it missed', async () => {
    const thread = newThread({ ...BOUNDS, events: 1 })
    await thread.begin('a')
    for (let n = 0; n < 6; n++) await thread.say('a', 'values', { n, much: 'x'.repeat(1 << 17) })
    const stream = thread.follow({ filter: EVERYTHING, after: 0 }, new AbortController().signal)
    const first = (await stream.next()).value as ProtocolItem[]
    expect(inShort(first)).toBe('a+ a0 a1')
    await thread.trim()
    // These events were trimmed, but the page with them is kept for a second after it was read.
    expect(inShort((await stream.next()).value as ProtocolItem[])).toBe('a2 a3')
    expect(inShort((await stream.next()).value as ProtocolItem[])).toBe('gap 6143<7168 a5')
    await stream.return(undefined)
  })
})

describe('a position after the end of the log, which is of a log that is no longer kept (V-30)', () => {
  it.each([{ after: seqOf(900, 0) }, { after: { id: `${Date.now() + 1e6}-0`, k: 0 } }])(
    'V-30: a stream after $after has a gap and then all that is kept',
    async ({ after }) => {
      const thread = newThread()
      await twoRuns(thread)
      const requested = typeof after === 'number' ? after : after.id
      expect(inShort(await thread.shown({ after }))).toBe(`gap ${requested}<1024 a+ a1 a2 a- b+ b1 b2 b-`)
    },
  )

  it('V-30: a stream after the last event has what comes later only', async () => {
    const thread = newThread()
    await twoRuns(thread)
    const after = lastSeqOf(await thread.events.total(REF))
    const stream = thread.follow({ filter: EVERYTHING, after }, new AbortController().signal)
    const first = stream.next()
    await thread.begin('c')
    expect(inShort((await first).value as ProtocolItem[])).toBe('c+')
    await stream.return(undefined)
  })

  it('V-30: a stream of a log that has no events yet has all that come', async () => {
    const thread = newThread()
    const stream = thread.follow({ filter: EVERYTHING, after: seqOf(900, 0) }, new AbortController().signal)
    const first = stream.next()
    await thread.begin('a')
    expect(inShort((await first).value as ProtocolItem[])).toBe('a+')
    await stream.return(undefined)
  })
})

describe('interrupts that wait for an answer (V-32)', () => {
  const ID = 'a'.repeat(32)

  /** A thread with an interrupt from its first run, after which another run failed. */
  async function asking(bounds = BOUNDS) {
    const thread = newThread(bounds)
    await thread.begin('a')
    await thread.say('a', RUN_STOPPED, { interrupts: [{ id: ID, value: '?' }] })
    await thread.end('a')
    await thread.begin('b')
    await thread.value('b', 1)
    await thread.say('b', RUN_DONE, { run_status: 'error' })
    Object.assign(thread.thread, { status: 'error', interrupts: { task: [{ id: ID, value: '?' }] } })
    return thread
  }
  const asked = (items: readonly ProtocolItem[]): (string | undefined)[] =>
    items.map((item) => ('seq' in item && item.method === 'input.requested' ? item.event_id : undefined))

  it.each(['error', 'busy', 'interrupted', 'idle'] as const)(
    'V-32: come first in a new stream, whatever the status of the thread: %s',
    async (status) => {
      const thread = await asking()
      Object.assign(thread.thread, { status })
      expect(asked(await thread.shown())[0]).toBe(`synth:a:input||${ID}`)
    },
  )

  it('V-32: come once in a stream of everything that is kept, also when their own events are not kept', async () => {
    const whole = await asking()
    expect(asked(await whole.shown({ after: 0 })).filter((id) => id?.startsWith('synth'))).toHaveLength(1)
    const cut = await asking({ ...BOUNDS, events: 2 })
    await cut.trim()
    for (const after of [0, seqOf(0, 0), seqOf(900, 0)])
      expect(asked(await cut.shown({ after }))).toContain(`synth:forgotten:input||${ID}`)
    const seqs = (await cut.shown({ after: 0 })).flatMap((item) => ('seq' in item ? [item.seq] : []))
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    expect(asked(await cut.shown({ after: seqOf(4, 0) }))).not.toContain(`synth:forgotten:input||${ID}`)
  })
})
