import { toAppError } from '../../base/errors.ts'
import type { Streams } from '../streams/streams.ts'
import type { RunChecks } from './run-checks.ts'

/** Streams with the permissions of one user. Permissions are checked once, when a stream begins. */
export function streamsFor(streams: Streams, checks: RunChecks): Streams {
  return {
    async create(call, thread_id, request, gone) {
      const made = await checks.creation(call, thread_id, request)
      return streams.create(made.call, thread_id, made.request, gone)
    },
    async joinRun(call, thread_id, run_id, joining) {
      const isThere = await checks.runIfThere(call, thread_id, run_id, 'threads:read')
      if (isThere && joining.cancel_on_disconnect)
        await checks.run(call, thread_id, run_id, 'threads:update', { action: 'interrupt' })
      return streams.joinRun(call, thread_id, run_id, joining)
    },
    async joinThread(call, thread_id, joining) {
      await checks.thread(call, thread_id, 'threads:read')
      return streams.joinThread(call, thread_id, joining)
    },
    followThread: (call, thread_id, following) =>
      streams.followThread(call, thread_id, {
        ...following,
        mayRead: async (ended) => {
          if (ended === undefined) await checks.thread(call, thread_id, 'threads:read')
          else await checks.runIfThere(call, null, ended, 'threads:read')
        },
      }),
    async lastSeq(call, thread_id) {
      // A thread that the user may not see counts as a missing thread, which has no events (V-44).
      const mayRead = await checks.thread(call, thread_id, 'threads:read').then(
        () => true,
        (error: unknown) => {
          if (toAppError(error).status >= 500) throw error
          return false
        },
      )
      return mayRead ? await streams.lastSeq(call, thread_id) : 0
    },
    closing: streams.closing,
    close: () => streams.close(),
  }
}
