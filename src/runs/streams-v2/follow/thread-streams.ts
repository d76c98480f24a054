import { AppError, toAppError } from '../../../base/errors.ts'
import type { EventLog } from '../../../events/event-log.ts'
import type { Thread } from '../../model.ts'
import type { OpenStreams } from '../../streams/open-stream.ts'
import { callerKey } from '../../streams/run-places.ts'
import type { Runs } from '../../runs.ts'
import type { Streams } from '../../streams/streams.ts'
import type { Threads } from '../../threads/threads.ts'
import { createEndOrder } from './end-order.ts'
import { isLifecycleOnly } from '../filter.ts'
import { type PendingInterrupt, waitingInterrupts } from '../interrupts.ts'
import { followThread, type ProtocolItem, type ReaderEnds } from './follow-thread.ts'
import type { ProtocolEvent } from '../protocol-event.ts'
import { createRunIndex } from './run-index.ts'
import type { UnseenEnds } from './unseen-ends.ts'

export interface ThreadStreamsDeps {
  events: EventLog
  threads: Pick<Threads, 'get'>
  runs: Pick<Runs, 'recent' | 'statelessEnd'>
  open: OpenStreams
  unseenEnds: UnseenEnds
}

/** Makes the streams of threads in protocol v2, with the state that they share. */
export function createThreadStreams({
  events,
  threads,
  runs,
  open,
  unseenEnds,
}: ThreadStreamsDeps): Streams['followThread'] {
  const logs = { events, index: createRunIndex(events), now: Date.now }
  const order = createEndOrder()

  return async (call, thread_id, { gone, mayRead, ...following }) => {
    const ref = { ...call.tenant, thread_id }
    const check = mayRead ?? (() => threads.get(call, thread_id))
    const isReadable = await check().then(() => true, unlessMissing)
    const threadNow = async (): Promise<Thread | undefined> =>
      isReadable
        ? await threads.get(call, thread_id).catch((error: unknown) => unlessMissing(error) || undefined)
        : undefined
    const isGone = (): Promise<boolean> =>
      threads.get(call, thread_id).then(
        () => false,
        (error: unknown) => !unlessMissing(error),
      )
    const waitingNow = async (thread: Thread): Promise<PendingInterrupt[]> => {
      const isAsking = Object.keys(thread.interrupts).length > 0
      const recent = isAsking && thread.status === 'busy' ? await runs.recent(call, thread_id) : []
      return waitingInterrupts(thread, recent)
    }
    const { signal, isClosed, close } = open.enter(gone)
    const client = callerKey(`${ref.deployment_id}/${thread_id}`, call.caller)
    const isLifecycle = isLifecycleOnly(following.filter)
    const reader = `${isLifecycle ? 'lifecycle' : 'events'} ${client}`
    const ordered = isLifecycle || following.until !== undefined ? undefined : order.enter(client)
    const ends: ReaderEnds = {
      unseen: unseenEnds.of(reader),
      turn: async (run_id) => (isLifecycle ? order.turn(client, run_id, signal) : undefined),
      sent(run_id) {
        unseenEnds.sent(reader, run_id)
        ordered?.sentEnd(run_id)
      },
      broke: (run_ids) => unseenEnds.broke(reader, run_ids),
    }
    /** Whether the batch is of a stateless run of this caller, which was deleted with the thread (D-63). */
    const isOfOwnEnd = async (batch: readonly ProtocolItem[]): Promise<boolean> => {
      const { run_id = null } = batch.find((item): item is ProtocolEvent => 'run_id' in item) ?? {}
      const end = run_id === null ? undefined : await runs.statelessEnd(call, run_id)
      if (end?.thread_id !== thread_id) return false
      return mayRead === undefined || (await mayRead(end.run_id).then(() => true, unlessMissing))
    }
    async function* batches(): AsyncGenerator<readonly ProtocolItem[]> {
      let isAllowed = isReadable
      const followed = { ref, threadNow, isGone, waitingNow }
      for await (const batch of followThread(logs, followed, following, ends, signal)) {
        isAllowed ||= (await check().then(() => true, unlessMissing)) || (await isOfOwnEnd(batch))
        if (!isAllowed) return
        ordered?.isSending()
        yield batch
        ordered?.wasSent()
      }
      if (isClosed()) throw new AppError('shutting_down')
    }
    return {
      batches: batches(),
      close() {
        ordered?.leave()
        close()
      },
    }
  }
}

function unlessMissing(error: unknown): false {
  if (toAppError(error).code === 'not_found') return false
  throw error
}
