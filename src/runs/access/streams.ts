import type { Streams } from '../streams/streams.ts'
import type { RunChecks } from './run-checks.ts'

/** Streams with the permissions of one user, which are checked once, when a stream begins. */
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
    close: () => streams.close(),
  }
}
