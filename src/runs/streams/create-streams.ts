import type { Clock } from '../../base/clock.ts'
import { toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { isAfter } from '../../events/id.ts'
import type { Batch, EventLog, ReadFrom } from '../../events/event-log.ts'
import { endsRun, RUN_DONE, runView, threadView } from '../../events/views.ts'
import { runKey } from '../deployment.ts'
import type { Run } from '../model.ts'
import { isTemporary } from '../plan-run.ts'
import { BEFORE_ALL, createOpenStreams, type OpenStreams, resolveStart, reaches } from './open-stream.ts'
import { ownEvents } from './own-events.ts'
import { createRunPlaces, type RunPlaces } from './run-places.ts'
import type { Call, Runs } from '../runs.ts'
import { isActive } from '../state.ts'
import { lastSeqOf } from '../streams-v2/protocol-event.ts'
import { createThreadStreams } from '../streams-v2/follow/thread-streams.ts'
import { createUnseenEnds, type UnseenEnds } from '../streams-v2/follow/unseen-ends.ts'
import type { EventStream, Joining, Streams } from './streams.ts'
import type { Threads } from '../threads/threads.ts'

export interface StreamsDeps {
  runs: Pick<Runs, 'create' | 'get' | 'cancel' | 'recent' | 'statelessEnd'>
  threads: Pick<Threads, 'get'>
  events: EventLog
  clock: Clock
  logger: Logger
  /** Open streams, shared with other revisions of the deployment; default: a new set. */
  open?: OpenStreams
  /** Shared with other revisions, and with other servers through notifications; default: a new object. */
  unseenEnds?: UnseenEnds
}

/** Longest time from storing a run's end until the events that end it are in the log. */
const CLOSING_MS = 2000

/** The dependencies and the state that the methods share. */
interface Work extends StreamsDeps {
  streams: OpenStreams
  places: RunPlaces
}

export function createStreams(deps: StreamsDeps): Streams {
  const streams = deps.open ?? createOpenStreams(deps.events)
  const work: Work = { ...deps, streams, places: createRunPlaces() }
  return {
    async create(call, thread_id, request, gone) {
      streams.assertOpen()
      const from = await startOfRun(deps, call, thread_id, request.run_id)
      const run = await deps.runs.create(call, thread_id, request)
      const cancels = request.on_disconnect === 'cancel'
      const joining = { modes: null, gone, cancel_on_disconnect: cancels }
      const stream = await openRun(work, call, whereabouts(run), from, joining)
      const key = runKey(call.tenant, run.run_id)
      return { run, stream: ifUnread(stream, gone, () => work.places.breakOff(key, call.caller, from)) }
    },
    joinRun: (call, thread_id, run_id, joining) => joinRun(work, call, { thread_id, run_id }, joining),
    async joinThread(call, thread_id, { from, modes, gone }) {
      const isLast = isTemporary(await deps.threads.get(call, thread_id)) ? isRunDone : null
      const thread = { ...call.tenant, thread_id }
      const place = await resolveStart(deps.events, thread, from)
      const stream = streams.open({ thread, from: place, view: threadView(modes), isLast, gone })
      // If the thread was deleted before the subscription began, no event reports that. So its existence is checked
      // again.
      return guarded(stream, () => deps.threads.get(call, thread_id))
    },
    followThread: createThreadStreams({
      ...deps,
      open: streams,
      unseenEnds: deps.unseenEnds ?? createUnseenEnds(),
    }),
    async lastSeq({ tenant }, thread_id) {
      return lastSeqOf(await deps.events.total({ ...tenant, thread_id }))
    },
    closing: streams.closing,
    close: streams.close,
  }
}

/** Whether a run ends with this item: the thread of a stateless run is deleted then. */
function isRunDone(item: Batch[number]): boolean {
  return !('gap' in item) && item.event === RUN_DONE
}

/** The position in the log at which a new run begins. */
async function startOfRun(
  { events, runs }: StreamsDeps,
  call: Call,
  thread_id: string | null,
  run_id: string | undefined,
): Promise<ReadFrom> {
  if (thread_id === null) return 'start'
  const place = await resolveStart(events, { ...call.tenant, thread_id }, 'now')
  if (run_id === undefined) return place
  // If the client chose the run's id, the run may already exist and may have begun before this position.
  try {
    await runs.get(call, thread_id, run_id)
    return 'start'
  } catch (error) {
    if (toAppError(error).code === 'not_found') return place
    throw error
  }
}

/** The thread of a run, and the times of its beginning and end. */
interface Whereabouts {
  thread_id: string
  run_id: string
  /** Epoch milliseconds; null while the run is active. */
  ended_at: number | null
  /** Epoch milliseconds; null for a deleted run. */
  created_at: number | null
}

function whereabouts({ thread_id, run_id, status, created_at, ended_at, updated_at }: Run): Whereabouts {
  return { thread_id, run_id, created_at, ended_at: isActive(status) ? null : (ended_at ?? updated_at) }
}

async function joinRun(
  work: Work,
  call: Call,
  asked: { thread_id: string | null; run_id: string },
  joining: Joining,
): Promise<EventStream> {
  const { streams, events, places } = work
  streams.assertOpen()
  const found = await find(work, call, asked)
  const thread = { ...call.tenant, thread_id: found.thread_id }
  const key = runKey(call.tenant, found.run_id)
  const start = joining.from === 'now' ? (places.takeUp(key, call.caller) ?? 'now') : joining.from
  const { created_at } = found
  const place = await resolveStart(events, thread, start)
  const from = created_at === null ? place : await ownEvents(events, thread, { ...found, created_at }, place)
  if (found.ended_at !== null) {
    return start === 'now' ? nothing() : openRun(work, call, found, from, joining)
  }
  // The run may have ended already, and its end event may be before `from`.
  return openRun(work, call, await find(work, call, asked), from, joining)
}

/**
 * @throws AppError not_found for a run that does not exist, unless it is a stateless run of this caller that ended less
 * than ten minutes ago, or this caller had a stream of it
 */
async function find(
  { runs, places, clock }: Work,
  call: Call,
  { thread_id, run_id }: { thread_id: string | null; run_id: string },
): Promise<Whereabouts> {
  try {
    return whereabouts(await runs.get(call, thread_id, run_id))
  } catch (error) {
    if (toAppError(error).code !== 'not_found') throw error
    const end = await runs.statelessEnd(call, run_id)
    const there = end?.thread_id ?? places.find(runKey(call.tenant, run_id), call.caller)
    if (there === undefined || (thread_id !== null && thread_id !== there)) throw error
    const { created_at = null, ended_at = clock.now() } = end ?? {}
    return { thread_id: there, run_id, created_at, ended_at }
  }
}

/** The events of a run from `from` to its end, or to the end of the log if the run's end event is no longer kept. */
async function openRun(
  work: Work,
  call: Call,
  found: Whereabouts,
  from: ReadFrom,
  { modes, gone, cancel_on_disconnect }: Omit<Joining, 'from'>,
): Promise<EventStream> {
  const { streams, events, places, clock } = work
  const { thread_id, run_id, ended_at } = found
  const thread = { ...call.tenant, thread_id }
  places.note(runKey(call.tenant, run_id), call.caller, thread_id)
  const plan = { thread, from, view: runView(run_id, modes), gone }
  const isEnd = (item: Batch[number]): boolean => !('gap' in item) && endsRun(item, run_id)
  if (ended_at === null) {
    const bound = async (): Promise<string | undefined> => {
      const now = await find(work, call, found)
      return now.ended_at === null ? undefined : ((await events.last(thread)) ?? '0-0')
    }
    const stream = streams.open({ ...plan, isLast: isEnd, bound })
    return cancel_on_disconnect ? cancelling(work, call, found, stream, gone) : stream
  }
  if (clock.now() - ended_at < CLOSING_MS) {
    return streams.open({ ...plan, isLast: isEnd, ends_after: CLOSING_MS })
  }
  const last = await events.last(thread)
  if (last === null || (typeof from === 'object' && !isAfter(last, from.after))) return nothing()
  const begins = from === 'start' ? { from: BEFORE_ALL, hides_first_gap: true } : {}
  return streams.open({ ...plan, ...begins, isLast: (item) => isEnd(item) || reaches(item, last) })
}

/** Cancels the run when its client disconnects before the stream has ended. */
function cancelling(
  { runs, logger }: Work,
  call: Call,
  { thread_id, run_id }: Whereabouts,
  stream: EventStream,
  gone: AbortSignal,
): EventStream {
  const cancel = (): void => {
    const options = { action: 'interrupt', wait: false, early: false } as const
    runs.cancel(call, thread_id, run_id, options).catch((error: unknown) => {
      const { code } = toAppError(error)
      if (code === 'run_not_active' || code === 'not_found') return
      logger.error({ err: error, run_id }, 'a run continues without its client')
    })
  }
  return onGone(stream, gone, cancel)
}

/** Returns the stream. `act` is called when the client disconnects before the end of the stream. */
function onGone(stream: EventStream, gone: AbortSignal, act: () => void): EventStream {
  if (gone.aborted) act()
  else gone.addEventListener('abort', act, { once: true })
  return {
    ...stream,
    close() {
      gone.removeEventListener('abort', act)
      stream.close()
    },
  }
}

/** Returns the stream. `act` is called when the client disconnects before any event was sent. */
function ifUnread(stream: EventStream, gone: AbortSignal, act: () => void): EventStream {
  let isRead = false
  const watched = onGone(stream, gone, () => isRead || act())
  async function* batches(): AsyncGenerator<Batch> {
    for await (const batch of watched.batches) {
      isRead = true
      yield batch
    }
  }
  return { ...watched, batches: batches() }
}

/** A stream without events, for a run that has ended. */
function nothing(): EventStream {
  return { batches: none(), close: () => undefined }
}

async function* none(): AsyncGenerator<Batch> {}

/** Returns the stream after `check` has resolved; closes it if `check` rejects. */
async function guarded(stream: EventStream, check: () => Promise<unknown>): Promise<EventStream> {
  try {
    await check()
    return stream
  } catch (error) {
    stream.close()
    throw error
  }
}
