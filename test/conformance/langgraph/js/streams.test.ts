import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { newGate } from '../../../support/runs/gate.ts'
import { refusal, useDeployment } from '../../deployments/use-deployment.ts'
import { inLong } from '../../../support/length.ts'

const NOWHERE = 'a5a5a5a5-0000-4000-8000-000000000000'
const SLEEPING = { input: { sleep: 600_000 } }
const MODES = [
  'values',
  'updates',
  'messages',
  'messages-tuple',
  'custom',
  'events',
  'debug',
  'tasks',
  'checkpoints',
] as const
type Mode = (typeof MODES)[number]

const setup = useDeployment()
const runs = () => setup().client.runs

/** An item of a stream, as the SDK returns it. */
interface Item {
  id?: string | undefined
  event: string
  data: unknown
}

async function newThread(): Promise<string> {
  return (await setup().client.threads.create()).thread_id
}

async function all(stream: AsyncIterable<unknown>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of stream) items.push(item as Item)
  return items
}

/** Reads the stream; `items` grows meanwhile. */
function watch(stream: AsyncIterable<unknown>): { items: Item[]; ended: Promise<void> } {
  const items: Item[] = []
  const read = async (): Promise<void> => {
    for await (const item of stream) items.push(item as Item)
  }
  const ended = read()
  ended.catch(() => undefined)
  return { items, ended }
}

function names(items: readonly Item[]): string[] {
  return items.map(({ event }) => event)
}

function counts(items: readonly Item[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const { event } of items) found[event] = (found[event] ?? 0) + 1
  return found
}

/** Checks that every item has an id, and that each id is later than the previous one. */
function expectRising(items: readonly Item[]): void {
  const ids = items.map(({ id = '' }) => id.split('-').map(Number))
  for (const [at, [ms = Number.NaN, seq = Number.NaN]] of ids.entries()) {
    const [beforeMs = -1, beforeSeq = -1] = ids[at - 1] ?? []
    expect(ms > beforeMs || (ms === beforeMs && seq > beforeSeq)).toBe(true)
  }
}

describe('runs.stream', () => {
  it('STREAM-1, STREAM-4: sends every mode as its own events, metadata first and nothing after the last', async () => {
    const expected: Record<Mode, Record<string, number>> = {
      values: { values: 4 },
      updates: { updates: 3 },
      messages: { 'messages/metadata': 1, 'messages/partial': 2, 'messages/complete': 1 },
      'messages-tuple': { messages: 2 },
      custom: {},
      events: { events: expect.any(Number) },
      debug: { debug: 11 },
      tasks: { tasks: 6 },
      checkpoints: { checkpoints: 5 },
    }
    for (const mode of MODES) {
      let run_id = ''
      const items = await all(
        runs().stream(await newThread(), 'tokens', {
          input: { tokens: 2 },
          streamMode: mode,
          onRunCreated: (place) => void (run_id = place.run_id),
        }),
      )
      expect(items[0]).toEqual({ event: 'metadata', data: { run_id, attempt: 1 }, id: items[0]?.id })
      expect([mode, counts(items)]).toEqual([mode, { metadata: 1, ...expected[mode] }])
      expectRising(items)
    }
    const custom = await all(
      runs().stream(await newThread(), 'kinds', { input: { kind: 'custom' }, streamMode: 'custom' }),
    )
    expect(custom.slice(1).map(({ event, data }) => [event, data])).toEqual([['custom', { step: 1 }]])
  })

  inLong(() => {
    it('STREAM-5: sends several modes at once like each alone', async () => {
      const pairs: Mode[][] = [
        ['values', 'updates'],
        ['messages-tuple', 'updates'],
        ['messages', 'values'],
        ['debug', 'custom'],
        ['tasks', 'checkpoints'],
        ['events', 'values'],
      ]
      for (const streamMode of pairs) {
        const items = await all(
          runs().stream(await newThread(), 'tokens', { input: { tokens: 2 }, streamMode }),
        )
        const found = counts(items)
        expect([streamMode, found['values'] ?? 0]).toEqual([
          streamMode,
          streamMode.includes('values') ? 4 : 0,
        ])
        expect([streamMode, found['updates'] ?? 0]).toEqual([
          streamMode,
          streamMode.includes('updates') ? 3 : 0,
        ])
        for (const mode of streamMode.filter((one) => one !== 'custom')) {
          const event =
            mode === 'messages-tuple' ? 'messages' : mode === 'messages' ? 'messages/partial' : mode
          expect([streamMode, mode, (found[event] ?? 0) > 0]).toEqual([streamMode, mode, true])
        }
        expectRising(items)
      }
    })
  })

  it('STREAM-4: has the node of a token under both names, also when the model is invoked without streaming', async () => {
    const items = await all(
      runs().stream(null, 'tokens', { input: { tokens: 3 }, streamMode: 'messages-tuple' }),
    )
    const tuples = items.slice(1).map(({ data }) => data as [{ content: string }, Record<string, unknown>])
    expect(tuples.map(([{ content }]) => content)).toEqual(['tok0 ', 'tok1 ', 'tok2 '])
    for (const [, metadata] of tuples)
      expect(metadata).toMatchObject({ graph_node: 'model', langgraph_node: 'model' })
  })

  it('STREAM-6: has the graph of each event, when subgraphs are streamed', async () => {
    const asked = { input: { kind: 'sub' }, streamMode: ['updates', 'custom', 'values'] as Mode[] }
    const flat = await all(runs().stream(await newThread(), 'kinds', asked))
    expect(names(flat).filter((event) => event.includes('|'))).toEqual([])
    const deep = await all(runs().stream(await newThread(), 'kinds', { ...asked, streamSubgraphs: true }))
    const namespaced = [...new Set(names(deep).filter((event) => event.includes('|')))]
    expect(namespaced.map((event) => event.replace(/:[0-9a-f-]+$/, ':id')).sort()).toEqual([
      'custom|nested:id',
      'updates|nested:id',
      'values|nested:id',
    ])
    const inner = deep
      .filter(({ event }) => event.startsWith('updates|'))
      .map(({ data }) => Object.keys(data as object))
    expect(inner).toEqual([['first'], ['second']])
  })

  it('STREAM-8: ends with an error as the last event, and with an interrupt as data', async () => {
    const failed = await all(runs().stream(await newThread(), 'kinds', { input: { kind: 'fail' } }))
    expect(failed.at(-1)).toMatchObject({
      event: 'error',
      data: { error: 'QuotaError', message: 'no more quota' },
    })
    const thread_id = await newThread()
    const asked = await all(
      runs().stream(thread_id, 'kinds', { input: { kind: 'ask' }, streamMode: ['values', 'updates'] }),
    )
    const question = { __interrupt__: [expect.objectContaining({ value: { question: 'go on?' } })] }
    expect(asked.filter(({ data }) => JSON.stringify(data).includes('__interrupt__'))).toMatchObject([
      { event: 'updates', data: question },
      { event: 'values', data: question },
    ])
    const resumed = await all(runs().stream(thread_id, 'kinds', { command: { resume: 'yes' } }))
    expect(resumed.at(-1)).toMatchObject({ event: 'values', data: { answer: 'yes' } })
  })

  it('STREAM-9: ends for its readers when its run is cancelled in either way', async () => {
    for (const action of ['interrupt', 'rollback'] as const) {
      const thread_id = await newThread()
      let run_id = ''
      const seen = watch(
        runs().stream(thread_id, 'tokens', {
          ...SLEEPING,
          onRunCreated: (place) => void (run_id = place.run_id),
        }),
      )
      await eventually(async () => expect(names(seen.items)).toContain('values'))
      await runs().cancel(thread_id, run_id, true, action)
      await seen.ended
      expect(names(seen.items)).toEqual(['metadata', 'values'])
    }
  })

  inLong(() => {
    it('STREAM-2: opens for a run that waits, and shows it when the run begins', async () => {
      const thread_id = await newThread()
      const first = await runs().create(thread_id, 'tokens', SLEEPING)
      let run_id = ''
      const seen = watch(
        runs().stream(thread_id, 'tokens', {
          input: { tokens: 1, sleep: 0 },
          onRunCreated: (place) => void (run_id = place.run_id),
        }),
      )
      await eventually(async () => expect(run_id).not.toBe(''))
      expect(seen.items).toEqual([])
      await runs().cancel(thread_id, first.run_id)
      await seen.ended
      expect(seen.items[0]).toMatchObject({ event: 'metadata', data: { run_id } })
      expect(seen.items.at(-1)).toMatchObject({ event: 'values', data: { done: true } })
    })
  })

  it('STREAM-3: is refused before anything streams', async () => {
    const thread_id = await newThread()
    expect(await refusal(all(runs().stream(NOWHERE, 'tokens')))).toMatchObject({ status: 404 })
    expect(await refusal(all(runs().stream(thread_id, 'nope')))).toMatchObject({ status: 404 })
    const wrong = runs().stream(thread_id, 'tokens', { streamMode: 'nope' as Mode })
    expect(await refusal(all(wrong))).toMatchObject({ status: 422 })
    const busy = await runs().create(thread_id, 'tokens', SLEEPING)
    const rejected = runs().stream(thread_id, 'tokens', { multitaskStrategy: 'reject' })
    expect(await refusal(all(rejected))).toMatchObject({ status: 409, code: 'thread_busy' })
    await runs().cancel(thread_id, busy.run_id, true)
  })

  inLong(() => {
    it('STREAM-10: loses no token of many streams at the same time, with tracing on', async () => {
      const STREAMS = 8
      const TOKENS = 1000
      const asked = { input: { tokens: TOKENS }, streamMode: 'messages-tuple' as const }
      const found = await Promise.all(
        Array.from({ length: STREAMS }, () => all(runs().stream(null, 'tokens', asked))),
      )
      for (const items of found) {
        const texts = items.slice(1).map(({ data }) => (data as [{ content: string }])[0].content)
        expect(texts).toEqual(Array.from({ length: TOKENS }, (_, n) => `tok${n} `))
      }
    })
  })
})

describe('runs.joinStream', () => {
  it('STREAM-11: returns what follows, filtered by mode, and missed events after an id', async () => {
    const thread_id = await newThread()
    const gate = await newGate()
    const { run_id } = await runs().create(thread_id, 'tokens', {
      input: { tokens: 2, gates: { plan: gate.file } },
      streamMode: ['values', 'updates', 'messages-tuple'],
    })
    const before = setup().streams()
    const joined = watch(runs().joinStream(thread_id, run_id))
    const updates = watch(runs().joinStream(thread_id, run_id, { streamMode: ['updates', 'messages-tuple'] }))
    await eventually(async () => expect(setup().streams()).toBe(before + 2))
    await gate.open()
    const whole = await all(runs().joinStream(thread_id, run_id, { lastEventId: '-1' }))
    await Promise.all([joined.ended, updates.ended])
    expect(counts(whole)).toEqual({ metadata: 1, values: 4, updates: 3, messages: 2 })
    expect(whole.slice(-joined.items.length)).toEqual(joined.items)
    expect(updates.items.filter(({ event }) => event !== 'metadata')).toEqual(
      whole.filter(({ event }) => event === 'updates' || event === 'messages'),
    )
    expect(await all(runs().joinStream(thread_id, run_id))).toEqual([])
    for (const at of [0, 3, whole.length - 1]) {
      const lastEventId = whole[at]?.id ?? ''
      expect(await all(runs().joinStream(thread_id, run_id, { lastEventId }))).toEqual(whole.slice(at + 1))
    }
    expect(await refusal(all(runs().joinStream(thread_id, NOWHERE)))).toMatchObject({ status: 404 })
  })

  inLong(() => {
    it('STREAM-11: sends every event to each of many clients', async () => {
      const JOINERS = 20
      const thread_id = await newThread()
      const { run_id } = await runs().create(thread_id, 'tokens', {
        input: { tokens: 200, sleep: 2000 },
        streamMode: 'messages-tuple',
      })
      // The SDK opens at most four connections at a time, but waits only for their headers.
      const found = await Promise.all(
        Array.from({ length: JOINERS }, () =>
          all(runs().joinStream(thread_id, run_id, { lastEventId: '-' })),
        ),
      )
      for (const items of found) expect(items.filter(({ event }) => event === 'messages')).toHaveLength(200)
    })
  })

  inLong(() => {
    it('STREAM-7: continues after its connection broke', async () => {
      const { url } = setup()
      for (const bytes of [200, 400, 2500]) {
        let cuts = 0
        const cutting: typeof fetch = async (input, init) => {
          const response = await fetch(input, init)
          if (cuts > 0 || response.headers.get('content-type') !== 'text/event-stream') return response
          cuts++
          return new Response(response.body?.pipeThrough(cutAfter(bytes)), response)
        }
        const client = new Client({
          apiUrl: url,
          apiKey: setup().weir.key,
          callerOptions: { fetch: cutting },
        })
        const { thread_id } = await client.threads.create()
        const items = await all(
          client.runs.stream(thread_id, 'tokens', {
            input: { tokens: 5 },
            streamMode: ['values', 'messages-tuple'],
          }),
        )
        expect([bytes, cuts, counts(items)]).toEqual([bytes, 1, { metadata: 1, values: 4, messages: 5 }])
        expectRising(items)
      }
    })
  })
})

/** Passes this many bytes of the body, and then an error, as a broken connection gives. */
function cutAfter(bytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let left = bytes
  return new TransformStream({
    async transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) return
      // If the stream failed at once, bytes that were not read yet would be lost.
      do await new Promise(setImmediate)
      while ((controller.desiredSize ?? 0) < 0)
      controller.error(new TypeError('terminated'))
    },
  })
}

inLong(() => {
  describe('stateless streams', () => {
    it('STREAM-12: have a location, and can be joined and resumed after their end', async () => {
      let place: { run_id: string; thread_id?: string } | undefined
      const items = await all(
        runs().stream(null, 'tokens', {
          input: { tokens: 2 },
          streamMode: 'updates',
          onRunCreated: (created) => void (place = created),
        }),
      )
      expect(place).toEqual({ run_id: expect.any(String) })
      const run_id = place?.run_id ?? ''
      expect(counts(items)).toEqual({ metadata: 1, updates: 3 })
      const lastEventId = items[1]?.id ?? ''
      expect(await all(runs().joinStream(null, run_id, { lastEventId }))).toEqual(items.slice(2))
      const background = await runs().create(null, 'tokens', { input: { tokens: 1, sleep: 300 } })
      const joined = await all(runs().joinStream(null, background.run_id, { lastEventId: '-' }))
      expect(counts(joined)).toEqual({ metadata: 1, values: 4 })
    })
  })
})
