import { describe, expect, it, vi } from 'vitest'
import { createRunEvents } from '../run-events.ts'
import { createReplay, type Replay } from './create-replay.ts'
import { readMoments, type SentEvent } from './moments.ts'

/** A long timeout, because the machine may be busy. */
const PATIENT = { timeout: 30_000 }
const START = 1_795_309_612_016
const TASK = { id: 't', name: 'draft', triggers: ['start'], input: { large: 'x'.repeat(100) } }

function sent(ms: number, event: string, data: unknown): SentEvent {
  return { id: `${START + ms}-${ms}`, event, data }
}

const piece = (ms: number, id: string, content: unknown): SentEvent =>
  sent(ms, 'messages', [{ id, type: 'AIMessageChunk', content }, { langgraph_node: 'draft' }])

const EVENTS: readonly SentEvent[] = [
  { event: 'metadata', data: { run_id: 'r' }, id: `${START - 5}-0` },
  sent(0, 'tasks', TASK),
  piece(100, 'a', 'Hello'),
  piece(200, 'a', [{ type: 'text', text: ', you' }]),
  sent(300, 'custom', { n: 1 }),
  sent(400, 'tasks|nested:1', { id: 'u', name: 'first', result: {}, interrupts: [] }),
  sent(1000, 'tasks', { id: 't', name: 'draft', error: null, result: { a: 1 }, interrupts: [] }),
  piece(1000, 'b', 'The end'),
]

async function* from(events: readonly SentEvent[]): AsyncGenerator<SentEvent> {
  yield* await Promise.resolve(events)
}

/** A replay whose clock advances only by the pauses; `paused` is called after each pause. */
function started(
  events: AsyncIterable<SentEvent>,
  paused: (replay: Replay, passed: number) => void = () => undefined,
) {
  let passed = 0
  const runEvents = createRunEvents()
  const replay: Replay = createReplay({
    events: runEvents,
    read: () => events,
    async pause(ms) {
      passed += ms
      await Promise.resolve()
      paused(replay, passed)
    },
    now: () => passed,
  })
  replay.start('thread', 'r')
  const state = () => replay.shown.current()?.state
  return { replay, runEvents, state, passed: () => passed }
}

describe('ui §9.5: the replay of a run', () => {
  it('has nodes, tokens and custom events with their times, and not what nodes got and returned', async () => {
    const { moments, startedAt, isWhole } = await readMoments(from(EVENTS))
    expect([startedAt, isWhole, moments.map(({ ms }) => ms)]).toEqual([
      START,
      true,
      [0, 100, 200, 300, 400, 1000, 1000],
    ])
    expect(moments[0]?.shown).toEqual({
      kind: 'task',
      task: { id: 't', name: 'draft', triggers: [] },
      namespace: [],
    })
    expect(moments[4]?.shown).toMatchObject({
      task: { result: null, interrupts: [] },
      namespace: ['nested:1'],
    })
  })

  it('says when events are missing', async () => {
    const gap = { event: 'gap', data: { requested: '-', oldest: `${START}-0` } }
    const [metadata, ...others] = EVENTS
    expect((await readMoments(from([metadata!, gap, ...others]))).isWhole).toBe(false)
    expect((await readMoments(from(others))).isWhole).toBe(false)
    const many = Array.from({ length: 20_001 }, (_, n) => sent(n, 'custom', n))
    const { moments, isWhole } = await readMoments(from(many))
    expect([moments.length, isWhole]).toEqual([20_000, false])
    expect(await readMoments(from([]))).toEqual({ moments: [], startedAt: 0, isWhole: true })
  })

  it('takes as long as the run, and ends with what it had then', async () => {
    const { replay, runEvents, state, passed } = started(from(EVENTS))
    await vi.waitFor(() => expect(state()).toBe('ended'), PATIENT)
    expect(replay.shown.current()).toMatchObject({
      run: 'r',
      ms: 1000,
      length: 1000,
      startedAt: START,
      isWhole: true,
      text: 'Hello, you\n\nThe end',
    })
    expect(passed()).toBe(1000)
    await vi.waitFor(() => expect(runEvents.custom.current().count).toBe(1), PATIENT)
    await vi.waitFor(() => expect(runEvents.nodes.current().get('draft')?.state).toBe('success'), PATIENT)
    await vi.waitFor(() => expect(replay.isOn.current()).toBe(true), PATIENT)
  })

  it('goes on faster from the moment at which that is chosen', async () => {
    const { state, passed } = started(from(EVENTS), (replay, time) => {
      if (time === 500) replay.setSpeed(10)
    })
    await vi.waitFor(() => expect(state()).toBe('ended'), PATIENT)
    expect(passed()).toBe(550)
  })

  it('leaves no states of nodes when it is stopped', async () => {
    const { replay, runEvents } = started(from(EVENTS), (playing, time) => {
      if (time === 200) playing.stop()
    })
    await vi.waitFor(() => expect(replay.isOn.current()).toBe(false), PATIENT)
    await vi.waitFor(() => expect(runEvents.nodes.current().size).toBe(0), PATIENT)
  })

  it('ends when it is stopped, and shows why its events cannot be read', async () => {
    async function* failing(): AsyncGenerator<SentEvent> {
      yield* from(EVENTS.slice(0, 2))
      throw new Error('not found')
    }
    const { replay, state } = started(failing())
    await vi.waitFor(() => expect(state()).toBe('failed'), PATIENT)
    expect(replay.shown.current()?.error).toEqual(new Error('not found'))
    replay.stop()
    const now = () => [replay.shown.current(), replay.isOn.current()]
    await vi.waitFor(() => expect(now()).toEqual([undefined, false]), PATIENT)
  })
})
