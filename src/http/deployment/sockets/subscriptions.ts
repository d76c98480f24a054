import { AppError, toAppError } from '../../../base/errors.ts'
import { newUuid } from '../../../base/ids.ts'
import { type EventFilter, EVERYTHING, isChannel, passes } from '../../../runs/streams-v2/filter.ts'
import type { ProtocolItem } from '../../../runs/streams-v2/follow/follow-thread.ts'
import { eventText } from '../../../runs/streams-v2/protocol-event.ts'
import type { ProtocolStream } from '../../../runs/streams/streams.ts'
import { checkExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentContext } from '../route.ts'
import type { Sender } from './sender.ts'

/** Maximum number of subscriptions of one socket (V-39). */
const MAX_SUBSCRIPTIONS = 256

/** The reader of new events for all subscriptions of a socket. */
interface Live {
  end: AbortController
  /** The last event that was read. */
  seq: number
}

/**
 * The subscriptions of a socket to events of its thread. One reader sends new events, each once and in order, even if
 * several subscriptions show an event; it waits while a new subscription gets its replay (V-35). `ended` is called when a
 * stream ends, without an error if the thread was deleted.
 */
export class Subscriptions {
  readonly #thread_id: string
  readonly #sender: Sender
  readonly #ended: (error: AppError | undefined) => void
  /** Filters by subscription; null while the replay of the subscription is not complete. */
  readonly #filters = new Map<string, EventFilter | null>()
  #live: Live | undefined
  #isClosed = false
  #turn: Promise<unknown> = Promise.resolve()

  constructor(thread_id: string, sender: Sender, ended: (error: AppError | undefined) => void) {
    this.#thread_id = thread_id
    this.#sender = sender
    this.#ended = ended
  }

  /**
   * Adds a subscription with the parameters of `subscription.subscribe`; its events are sent after `begin` was called.
   * @throws AppError invalid_request, too_many_streams, and those of `Streams`
   */
  async add(context: DeploymentContext, params: JsonObject) {
    if (this.#filters.size >= MAX_SUBSCRIPTIONS) throw new AppError('too_many_streams')
    const { filter, since } = filterOf(context, params)
    const { streams } = context.deps
    const applied_through_seq = await streams.lastSeq(callOf(context), this.#thread_id)
    let live = this.#live
    const end = live?.end ?? new AbortController()
    const until = (): number => live?.seq ?? applied_through_seq
    const following = { filter, after: since, until, gone: end.signal }
    // If this rejects, the error is the answer to the command.
    const stream = await streams.followThread(callOf(context), this.#thread_id, following)
    const subscription_id = newUuid()
    this.#filters.set(subscription_id, null)
    const begin = (): void => {
      if (this.#isClosed) return stream.close()
      const isFirst = this.#live === undefined
      const reader = (live = this.#live ??= { end, seq: applied_through_seq })
      void this.#inTurn(() => this.#replay(stream, subscription_id, filter)).then(
        () => isFirst && void this.#follow(context, reader),
        (error: unknown) => reader.end.signal.aborted || this.#ended(toAppError(error)),
      )
    }
    return { result: { subscription_id }, applied_through_seq, begin }
  }

  /** Removes a subscription; returns false if none has this id. */
  remove(subscription_id: string): boolean {
    const isKnown = this.#filters.delete(subscription_id)
    if (this.#filters.size === 0) this.#stop()
    return isKnown
  }

  close(): void {
    this.#isClosed = true
    this.#filters.clear()
    this.#stop()
  }

  #stop(): void {
    this.#live?.end.abort()
    this.#live = undefined
  }

  /** Executes the calls of `act` one after the other, so that replays and new events do not mix. */
  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(act)
    this.#turn = done.catch(() => undefined)
    return done
  }

  #send(item: ProtocolItem): Promise<boolean> {
    return this.#sender.send('oldest' in item ? JSON.stringify(item) : eventText(item))
  }

  async #sendNew(reader: Live, batch: readonly ProtocolItem[]): Promise<void> {
    for (const item of batch) {
      if (reader.end.signal.aborted) return
      if ('oldest' in item) {
        if (!(await this.#send(item))) return
        continue
      }
      reader.seq = item.seq
      const isShown = [...this.#filters.values()].some((filter) => filter !== null && passes(filter, item))
      if (isShown && !(await this.#send(item))) return
    }
  }

  async #follow(context: DeploymentContext, reader: Live): Promise<void> {
    const { signal } = reader.end
    const following = { filter: EVERYTHING, after: reader.seq, gone: signal }
    try {
      const { streams } = context.deps
      const stream = await streams.followThread(callOf(context), this.#thread_id, following)
      try {
        for await (const batch of stream.batches) await this.#inTurn(() => this.#sendNew(reader, batch))
      } finally {
        stream.close()
      }
      if (!signal.aborted) this.#ended(undefined)
    } catch (error) {
      if (!signal.aborted) this.#ended(toAppError(error))
    }
  }

  async #replay(stream: ProtocolStream, id: string, filter: EventFilter): Promise<void> {
    try {
      for await (const batch of stream.batches)
        for (const item of batch) {
          if (!this.#filters.has(id) || !(await this.#send(item))) return
        }
      if (this.#filters.has(id)) this.#filters.set(id, filter)
    } finally {
      stream.close()
    }
  }
}

function filterOf({ deps: { registry } }: DeploymentContext, params: JsonObject) {
  const checked = checkExact(registry, 'protocol-stream', params)
  if (!checked.ok) {
    const [fault] = checked.faults
    throw new AppError('invalid_request', { message: `${fault?.path ?? ''}: ${fault?.message ?? ''}` })
  }
  const { channels, namespaces, depth, since } = checked.value
  const known = channels.filter(isChannel)
  if (known.length === 0) throw new AppError('invalid_request', { message: 'None of the channels is known.' })
  const filter = { channels: known, namespaces: namespaces ?? [], depth: depth ?? undefined }
  return { filter, since: since ?? undefined }
}
