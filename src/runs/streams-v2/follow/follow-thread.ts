import type { Batch, EventLog, StoredEvent, ThreadRef } from '../../../events/event-log.ts'
import { isAfter, parseEventId } from '../../../events/id.ts'
import { pause } from '../../../base/pause.ts'
import type { Thread } from '../../model.ts'
import { createConverter } from '../convert-entry.ts'
import { earlierRequests } from './earlier-requests.ts'
import { type EventFilter, inNamedSubgraph, namesSubgraphs, passes, showsInput } from '../filter.ts'
import type { PendingInterrupt } from '../interrupts.ts'
import {
  lastSeqOf,
  numberInEntry,
  type PlaceInLog,
  positionOf,
  type ProtocolEvent,
  seqOf,
} from '../protocol-event.ts'
import { BEFORE_ALL } from './read-entries.ts'
import type { IndexedLog, RunIndex } from './run-index.ts'
import { beganJustNow, END_AFTER_MS, resumedBegin, type StreamBegin, streamBegin } from './stream-begin.ts'

/** Reports that some requested events are no longer kept. `requested` is a `seq`, or the id of an entry of the log. */
export interface ProtocolGap {
  type: 'gap'
  requested: number | string
  oldest: number
}

export type ProtocolItem = ProtocolEvent | ProtocolGap

/** Records which ends of runs the client of a stream has received (V-29). */
export interface ReaderEnds {
  /** Runs whose end was not sent to the client, because its last connection broke. */
  unseen: ReadonlySet<string>
  /** Resolves when the stream may send the end of this run. */
  turn(run_id: string): Promise<void>
  /** Must be called after the end of this run was sent to the client. */
  sent(run_id: string): void
  /** Must be called when the connection broke while these runs were active. */
  broke(run_ids: Iterable<string>): void
}

export interface Following {
  filter: EventFilter
  /** The `seq` or position after which the stream begins; undefined: the start that V-29 defines. */
  after: number | PlaceInLog | undefined
  /**
   * Returns the `seq` of the last event to send; called once, when reading begins. Undefined: the stream does not end.
   */
  until?: () => number
}

export interface ThreadLogs {
  events: Pick<EventLog, 'read'>
  index: RunIndex
  /** Epoch milliseconds. */
  now(): number
}

export interface FollowedThread {
  ref: ThreadRef
  /** The thread; undefined while it does not exist. */
  threadNow(): Promise<Thread | undefined>
  /** Whether the thread was deleted: with its last run, if that was stateless. */
  isGone(): Promise<boolean>
  /** Interrupts of the thread that wait for an answer. */
  waitingNow(thread: Thread): Promise<PendingInterrupt[]>
}

/**
 * The events of a thread for one client: those after the requested position (by default those of the runs of V-29),
 * then new ones.
 */
export async function* followThread(
  { events, index, now }: ThreadLogs,
  followed: FollowedThread,
  { filter, after: asked, until }: Following,
  ends: ReaderEnds,
  signal: AbortSignal,
): AsyncGenerator<readonly ProtocolItem[]> {
  const last = until === undefined ? Number.POSITIVE_INFINITY : positionOf(until())
  if (last < 0) return
  const { ref } = followed
  const { log, thread } = await readPlace(index, followed, asked)
  // A position beyond the log belongs to an earlier log that is no longer kept. So the client has received nothing of
  // this log.
  const isOther = asked !== undefined && isBeyond(log, asked)
  const after = isOther ? 0 : asked
  const begin =
    after === undefined ? streamBegin(log, thread, filter, ends.unseen, now()) : resumedBegin(log, after)
  const gaps = asked === undefined ? [] : gapBefore(log.oldest, asked, isOther)
  const waiting = isNew(after) || gaps.length > 0 ? await waitingFor(followed, thread, filter) : []
  // Events of interrupts that are no longer kept need a `seq`. In a replay this `seq` is below those of all kept
  // events, since the reader continues after the highest `seq` it has received.
  const forgotten_at = asked === undefined ? log.total : (log.oldest?.position ?? log.total)
  const requests = await earlierRequests(events, ref, waiting, filter, log, { begin, forgotten_at })
  const before = [...gaps, ...requests]
  if (before.length > 0) yield before
  const readsAll = after === undefined && namesSubgraphs(filter)
  if (!readsAll && begin.position > last) return

  const follower = new Follower({
    filter,
    after,
    begin,
    last,
    opened_at: log.total,
    unseen: ends.unseen,
    now,
    isGapTold: gaps.length > 0,
  })
  try {
    for await (const batch of events.read(ref, readsAll ? BEFORE_ALL : { after: begin.before }, signal)) {
      const portions = follower.take(batch)
      const hasEnded = portions.some(({ ended }) => ended.length > 0)
      for (const { items, not_before, told, ended } of portions) {
        await pause(Math.min(not_before - now(), END_AFTER_MS), signal)
        if (told !== undefined) await ends.turn(told)
        if (items.length > 0) yield items
        for (const run_id of ended) {
          follower.open.delete(run_id)
          ends.sent(run_id)
        }
      }
      if (follower.isOver || (hasEnded && (await followed.isGone()))) return
    }
  } finally {
    if (signal.aborted && until === undefined) ends.broke(follower.open.keys())
  }
}

/**
 * Reads the log and the thread. The status of the thread shows whether a run without entries follows. The log of a busy
 * thread is read before the thread, so that a run that ends in between is still shown. The log of an idle thread is
 * read after the thread.
 */
async function readPlace(
  index: RunIndex,
  { ref, threadNow }: FollowedThread,
  after: Following['after'],
): Promise<{ log: IndexedLog; thread: Thread | undefined }> {
  const log = await index.of(ref)
  if (after !== undefined) return { log, thread: undefined }
  const thread = await threadNow()
  return { log: thread?.status === 'busy' ? log : await index.of(ref), thread }
}

/** The selection of events for one stream, fixed when it is opened. */
interface Shown {
  filter: EventFilter
  after: Following['after']
  begin: StreamBegin
  /** Position of the first entry that was added after the stream was opened. */
  opened_at: number
  unseen: ReaderEnds['unseen']
  now: ThreadLogs['now']
  /** Position of the last entry to send; infinite for a stream that does not end. */
  last: number
  /** Whether the client already received a gap before the first event. */
  isGapTold: boolean
}

/** Items that are sent together. */
interface Portion {
  items: ProtocolItem[]
  /** Epoch milliseconds. */
  not_before: number
  /**
   * Id of the run whose end is the first item, if this end must wait for its turn. Undefined if the end is older than
   * the stream.
   */
  told: string | undefined
  /** Runs that end in this portion, including those whose end the filter leaves out. */
  ended: string[]
}

/** Converts the entries that one stream reads. */
class Follower {
  readonly #shown: Shown
  readonly #convert = createConverter()
  /**
   * Ids of the runs whose beginning was sent and whose end was not. The value is the time at which the beginning was
   * sent, or 0 for a run that began long before the stream.
   */
  readonly open = new Map<string, number>()
  /** Position of the last entry that was read. */
  #read: number | undefined
  #isCut = false
  /** Whether the log has lost its last entries, so that later entries have the numbers of the lost ones. */
  #hasLost = false
  /** Whether the last entry of the stream was read. */
  isOver = false

  constructor(shown: Shown) {
    this.#shown = shown
  }

  /** Returns the events of a batch that the stream shows, in portions. Each end of a run begins a new portion. */
  take(batch: Batch): Portion[] {
    const { last, isGapTold, after, opened_at, unseen, now } = this.#shown
    let portion: Portion = { items: [], not_before: 0, told: undefined, ended: [] }
    const portions = [portion]
    for (const entry of batch) {
      if ('gap' in entry) {
        this.#isCut = true
        this.isOver ||= last < Number.POSITIVE_INFINITY && entry.gap.oldest === null
        continue
      }
      this.isOver ||= entry.position >= last
      if (entry.position > last) break
      if (this.#isCut && (this.#read !== undefined || !isGapTold))
        portion.items.push(...gapAt(entry, this.#read, after))
      this.#isCut = false
      this.#hasLost ||= this.#read !== undefined && entry.position <= this.#read
      this.#read = entry.position
      for (const event of this.#convert(entry)) {
        const ended = this.#note(event, entry.position)
        const isShown = this.#shows(event, entry.position)
        if (ended !== undefined && isShown) {
          const not_before = (this.open.get(ended) ?? 0) + END_AFTER_MS
          const isNew = entry.position >= opened_at || not_before > now() || unseen.has(ended)
          portion = { items: [], not_before, told: isNew ? ended : undefined, ended: [] }
          portions.push(portion)
        }
        if (isShown) portion.items.push(event)
        if (ended !== undefined) portion.ended.push(ended)
      }
    }
    return portions
  }

  /** Records the run if the event is its beginning. Returns the run's id if the event is its end. */
  #note(event: ProtocolEvent, position: number): string | undefined {
    const { run_id, timestamp } = event
    if (run_id === null || !isRoot(event)) return undefined
    if (!isBegin(event)) return run_id
    const { opened_at, now } = this.#shown
    // The time of sending counts, because on a busy server the client gets the beginning some time after it happened.
    if (position >= opened_at) this.open.set(run_id, now())
    else this.open.set(run_id, beganJustNow(timestamp, now()) ? timestamp : 0)
    return undefined
  }

  #shows(event: ProtocolEvent, position: number): boolean {
    const { filter, after, begin } = this.#shown
    if (!passes(filter, event)) return false
    if (this.#hasLost) return true
    if (typeof after === 'number') return event.seq > after
    if (after !== undefined)
      return isAfter(event.id, after.id) || (event.id === after.id && numberInEntry(event) > after.k)
    return position >= begin.position || inNamedSubgraph(filter, event)
  }
}

function isRoot({ method, namespace }: ProtocolEvent): boolean {
  return method === 'lifecycle' && namespace.length === 0
}

function isBegin(event: ProtocolEvent): boolean {
  return event.data.startsWith('{"event":"running"')
}

type Place = Pick<StoredEvent, 'id' | 'position'>

/** Whether the client of a stream has received nothing of the thread yet. */
function isNew(after: Following['after']): boolean {
  return after === undefined || after === 0
}

/** The interrupts that the stream has to show (V-32). `read` is the thread if it was read already. */
async function waitingFor(
  { threadNow, waitingNow }: FollowedThread,
  read: Thread | undefined,
  filter: EventFilter,
): Promise<PendingInterrupt[]> {
  if (!showsInput(filter)) return []
  const thread = read ?? (await threadNow())
  return thread === undefined ? [] : waitingNow(thread)
}

/** Whether a position is after the last event that the log ever had. */
function isBeyond({ total, last }: IndexedLog, after: number | PlaceInLog): boolean {
  return typeof after === 'number' ? after > lastSeqOf(total) : isAfter(after.id, last)
}

/** The gap before the oldest entry, if the client requested earlier ones. */
function gapBefore(oldest: Place | undefined, after: number | PlaceInLog, isOther = false): ProtocolGap[] {
  if (oldest === undefined) return []
  const { position, id } = oldest
  if (isOther)
    return [
      { type: 'gap', requested: typeof after === 'number' ? after : after.id, oldest: seqOf(position, 0) },
    ]
  if (typeof after === 'number') {
    const isMissed = after > 0 && positionOf(after) < position - 1
    return isMissed ? [{ type: 'gap', requested: after, oldest: seqOf(position, 0) }] : []
  }
  const isMissed = parseEventId(after.id)[0] > 0 && isAfter(id, after.id) && position > 0
  return isMissed ? [{ type: 'gap', requested: after.id, oldest: seqOf(position, 0) }] : []
}

/** The gap before an entry whose predecessors are no longer kept; `read`: the position that was read last. */
function gapAt(entry: Place, read: number | undefined, after: Following['after']): ProtocolGap[] {
  if (read !== undefined)
    return [{ type: 'gap', requested: lastSeqOf(read + 1), oldest: seqOf(entry.position, 0) }]
  return after === undefined ? [] : gapBefore(entry, after)
}
