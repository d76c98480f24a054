import { newUuid } from '../../base/ids.ts'
import { type Clock, createExpiryTime } from '../../base/clock.ts'
import type { EventDraft, ThreadRef } from '../../events/event-log.ts'
import type { Append, EventChunk, EventBounds, EventStore, Page } from '../../events/event-store.ts'
import { joinData, splitData } from '../event-text.ts'
import { APPEND, PAGE, TRIM } from './event-scripts.ts'
import type { RedisConnection } from './redis.ts'

export interface RedisEventStoreOptions {
  redis: RedisConnection
  clock: Clock
  bounds: EventBounds
  /** Whether an event ends its run. No events can be appended for the run after this event. */
  endsRun(event: EventDraft): boolean
}

/** An event store whose appends may be repeated. */
export interface RedisEventStore extends EventStore {
  /** Appends events. Returns undefined, without appending, if this id was appended before. */
  appendOnce(id: string, thread: ThreadRef, items: readonly EventDraft[]): Promise<EventChunk | undefined>
  /** Makes the log expire after `RETIRED_MS`. */
  retire(thread: ThreadRef): Promise<void>
}

const CHANNEL = 'weir:events'
/** Time for which the stream of a deleted thread can still be read. */
const RETIRED_MS = 10 * 60_000
const CHECK_MS = 1000
const PAGE_EVENTS = 500
const PAGE_CHARS = 1 << 18
const TRIM_CHUNKS = 20

interface Keys {
  stream: string
  log: string
  /** Key that is written to test whether the server accepts writes. */
  check: string
  /** The key of the fence of a run, or of the id of an append. */
  of(kind: 'run' | 'once', id: string): string
}

/** The keys of a thread. Braces put all of them into one slot of a cluster. */
function keysOf({ workspace_id, deployment_id, thread_id }: ThreadRef): Keys {
  const base = `weir:{${workspace_id}/${deployment_id}/${thread_id}}`
  return {
    stream: `${base}:events`,
    log: `${base}:log`,
    check: `${base}:check`,
    of: (kind, id) => `${base}:${kind}:${id}`,
  }
}

type PageReply = [string, string, string, string, string, [id: string, fields: string[]][]]

function toChunk([id, fields]: [string, string[]]): EventChunk {
  const [ms = 0, last = 0] = id.split('-').map(Number)
  const [, count, , position, , offset, , heads = '[]', , data = ''] = fields
  return {
    position: Number(position),
    offset: Number(offset),
    ms,
    seq: last - Number(count) + 1,
    items: splitData(heads, data),
  }
}

type Appended = [position: number, offset: string, ms: string, seq: number]

/** Appends; null when the lease is lost, undefined when this id was appended before. */
async function append(
  { redis, clock, bounds, endsRun }: RedisEventStoreOptions,
  { thread, items, lease }: Append,
  { id, message }: { id: string; message: string },
): Promise<EventChunk | null | undefined> {
  const keys = keysOf(thread)
  const ended = items.find(endsRun)?.run_id ?? ''
  const { heads, data } = joinData(items)
  const events = [clock.now(), items.length, data.length, heads, data, bounds.age_ms]
  const fence = [lease?.attempt ?? 0, lease?.token ?? '', id, ended]
  const reply = await redis.run<Appended | null | 0>(
    APPEND,
    [keys.stream, keys.log, keys.of('run', lease?.run_id ?? ended), keys.of('once', id)],
    [...events, ...fence, CHANNEL, message],
  )
  if (reply === 0) return undefined
  if (reply === null) return null
  const [position, offset, ms, seq] = reply
  return { position, offset: Number(offset), ms: Number(ms), seq, items }
}

async function readPage(
  redis: RedisConnection,
  thread: ThreadRef,
  [ms, seq]: readonly [number, number],
): Promise<Page | undefined> {
  const { stream, log } = keysOf(thread)
  const from = seq < 0 ? `${ms}-0` : `(${ms}-${seq}`
  const reply = await redis.run<PageReply | null>(PAGE, [stream, log], [from, PAGE_EVENTS, PAGE_CHARS])
  if (reply === null) return undefined
  const [total, lastMs, lastSeq, forgottenMs, forgottenSeq, chunks] = reply
  return {
    chunks: chunks.map(toChunk),
    total: Number(total),
    last: [Number(lastMs), Number(lastSeq)],
    forgotten: [Number(forgottenMs), Number(forgottenSeq)],
  }
}

type Message = [
  from: string,
  kind: 'appended' | 'dropped',
  workspace_id: string,
  deployment_id: string,
  thread_id: string,
]

/**
 * Stores events in Redis streams; each entry contains one chunk. Each run has a fence, so that only its latest attempt
 * can append.
 */
export function createRedisEventStore(options: RedisEventStoreOptions): RedisEventStore {
  const { redis, clock, bounds } = options
  const expiryTime = createExpiryTime(clock)
  const me = newUuid()
  const messageOf = (kind: Message[1], { workspace_id, deployment_id, thread_id }: ThreadRef): string =>
    JSON.stringify([me, kind, workspace_id, deployment_id, thread_id] satisfies Message)
  const add = (one: Append, id = ''): Promise<EventChunk | null | undefined> =>
    append(options, one, { id, message: messageOf('appended', one.thread) })

  return {
    append: (appends) => Promise.all(appends.map(async (one) => (await add(one)) ?? null)),
    appendOnce: async (id, thread, items) => (await add({ thread, items, lease: null }, id)) ?? undefined,
    page: (thread, after) => readPage(redis, thread, after),
    // The check writes a key, because a server that is full or no longer the primary still answers reads.
    check: async (thread) => void (await redis.command('SET', keysOf(thread).check, 1, 'PX', CHECK_MS)),
    async drop(thread) {
      const { stream, log } = keysOf(thread)
      await redis.command('UNLINK', stream, log)
      await redis.command('PUBLISH', CHANNEL, messageOf('dropped', thread))
    },
    async retire(thread) {
      const { stream, log } = keysOf(thread)
      await Promise.all([stream, log].map((key) => redis.command('PEXPIRE', key, RETIRED_MS)))
    },
    /** Trims the log of a thread. For all threads (null) there is nothing to do, because old events expire. */
    async trim(thread) {
      if (thread === null) return
      const { stream, log } = keysOf(thread)
      const limits = [bounds.events, bounds.chars, expiryTime() - bounds.age_ms, TRIM_CHUNKS]
      let isMore = true
      while (isMore) isMore = (await redis.run<number>(TRIM, [stream, log], limits)) === 1
    },
    listen(onChange) {
      const own = JSON.stringify([me]).slice(0, -1)
      const receive = (text: string): void => {
        // Ignores this server's own messages, the most frequent ones.
        if (text.startsWith(own)) return
        const [, kind, workspace_id, deployment_id, thread_id] = JSON.parse(text) as Message
        onChange({ kind, thread: { workspace_id, deployment_id, thread_id } })
      }
      redis.subscribe(CHANNEL, receive, () => onChange({ kind: 'missed' }))
    },
    close: () => redis.close(),
  }
}
