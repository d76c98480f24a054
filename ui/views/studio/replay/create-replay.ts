import { createFollowed, type Followed, type RunEvents } from '../run-events.ts'
import { type Moment, readMoments, type SentEvent, type ShownEvent } from './moments.ts'

export interface Replayed {
  /** Number of the replay since the page was opened. */
  turn: number
  run: string
  state: 'reading' | 'playing' | 'ended' | 'failed'
  /** Milliseconds of the run that have been replayed, and those from its first to its last event. */
  ms: number
  length: number
  /** Epoch milliseconds of the first event; 0 before the events are read, and for a run without events. */
  startedAt: number
  /** The end of the texts of the messages so far. */
  text: string
  isWhole: boolean
  error?: unknown
}

/** Shows the events of an ended run again, with their original pauses divided by the speed. */
export interface Replay {
  /** Undefined without a replay. */
  shown: Followed<Replayed | undefined>
  isOn: Followed<boolean>
  start(thread: string, run: string): void
  /** Ends the replay, and forgets the states of its nodes. */
  stop(): void
  /** Sets the speed from now on, as a multiple of the speed of the run. */
  setSpeed(times: number): void
}

interface ReplayParts {
  /** The states of nodes and the custom events, which the replay writes. */
  events: RunEvents
  /** Reads the events of a run that the server has kept. */
  read(thread: string, run: string, signal: AbortSignal): AsyncIterable<SentEvent>
  /** Resolves after `ms` milliseconds, or when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** The time of a clock in milliseconds. */
  now(): number
}

const TICK_MS = 50
/** Maximum number of characters of the text that are shown. */
const MOST_SHOWN = 20_000

/** Collects the texts of messages, with an empty line between two messages. */
function createTranscript() {
  let text = ''
  let last: string | undefined
  return {
    add(message: string, piece: string): void {
      text += (last === undefined || last === message ? '' : '\n\n') + piece
      last = message
    },
    end: (): string => text.slice(-MOST_SHOWN),
  }
}

interface Player extends Pick<ReplayParts, 'pause' | 'now'> {
  show(one: ShownEvent): void
  /** Called at each tick after its events were shown; `ms`: milliseconds of the run that have been replayed. */
  tick(ms: number): void
  speed(): number
  signal: AbortSignal
}

/** Shows each moment at its time divided by the speed. Resolves after the last moment, or when the signal aborts. */
async function play(
  moments: readonly Moment[],
  { show, tick, speed, pause, now, signal }: Player,
): Promise<void> {
  const end = moments.at(-1)?.ms ?? 0
  let [ms, next, before] = [0, 0, now()]
  while (!signal.aborted) {
    for (let one = moments[next]; one !== undefined && one.ms <= ms; one = moments[next]) {
      show(one.shown)
      next += 1
    }
    tick(Math.min(ms, end))
    if (next >= moments.length) return
    await pause(TICK_MS, signal)
    const time = now()
    ms += (time - before) * speed()
    before = time
  }
}

export function createReplay({ events, read, pause, now }: ReplayParts): Replay {
  let replayed: Replayed | undefined
  let [turn, speed] = [0, 1]
  let gone = new AbortController()
  const shown = createFollowed(() => replayed)
  const isOn = createFollowed(() => replayed !== undefined)
  const set = (next: Replayed | undefined): void => {
    replayed = next
    shown.changed()
    isOn.changed()
  }
  const change = (fields: Partial<Replayed>): void => {
    if (replayed !== undefined) set({ ...replayed, ...fields })
  }

  async function work(thread: string, run: string, signal: AbortSignal): Promise<void> {
    const { moments, startedAt, isWhole } = await readMoments(read(thread, run, signal))
    if (signal.aborted) return
    change({ state: 'playing', startedAt, isWhole, length: moments.at(-1)?.ms ?? 0 })
    const transcript = createTranscript()
    const show = (one: ShownEvent): void => {
      if (one.kind === 'task') events.addTask(one.task, one.namespace)
      else if (one.kind === 'custom') events.addCustom(one.value)
      else transcript.add(one.message, one.text)
    }
    const tick = (ms: number): void => change({ ms, text: transcript.end() })
    await play(moments, { show, tick, speed: () => speed, pause, now, signal })
    if (!signal.aborted) change({ state: 'ended' })
  }

  return {
    shown,
    isOn,
    setSpeed(times) {
      speed = times
    },
    stop() {
      gone.abort()
      if (replayed === undefined) return
      events.clear()
      set(undefined)
    },
    start(thread, run) {
      gone.abort()
      gone = new AbortController()
      const { signal } = gone
      speed = 1
      turn += 1
      events.clear()
      set({ turn, run, state: 'reading', ms: 0, length: 0, startedAt: 0, text: '', isWhole: true })
      work(thread, run, signal).catch((error: unknown) => {
        if (!signal.aborted) change({ state: 'failed', error })
      })
    },
  }
}
