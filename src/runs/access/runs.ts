import type { Call, Runs } from '../runs.ts'
import type { Ask } from './rulings.ts'
import type { RunChecks } from './run-checks.ts'

const INTERRUPT = { action: 'interrupt' }

/** Runs with the permissions of one user. */
export function runsFor(runs: Runs, checks: RunChecks, ask: Ask): Runs {
  return {
    async create(call, thread_id, request) {
      const made = await checks.creation(call, thread_id, request)
      return runs.create(made.call, thread_id, made.request)
    },
    async createBatch(call, requests) {
      const all = await Promise.all(requests.map((request) => checks.creation(call, null, request)))
      // Each run gets a new thread, and the user may see all of these threads.
      const batchCall: Call = { ...call, access: { visible: undefined } }
      return runs.createBatch(
        batchCall,
        all.map(({ request }) => request),
      )
    },
    async wait(call, thread_id, request, gone) {
      const made = await checks.creation(call, thread_id, request)
      return runs.wait(made.call, thread_id, made.request, gone)
    },
    async join(call, thread_id, run_id, leaving) {
      await checks.run(call, thread_id, run_id, 'threads:read')
      if (leaving.cancel_on_disconnect) await checks.run(call, thread_id, run_id, 'threads:update', INTERRUPT)
      return runs.join(call, thread_id, run_id, leaving)
    },
    get: (call, thread_id, run_id) => checks.run(call, thread_id, run_id, 'threads:read'),
    async statelessEnd(call, run_id) {
      await checks.runIfThere(call, null, run_id, 'threads:read')
      return runs.statelessEnd(call, run_id)
    },
    async recent(call, thread_id) {
      await checks.thread(call, thread_id, 'threads:read')
      return runs.recent(call, thread_id)
    },
    async ofTask(call, thread_id, task_id) {
      await checks.thread(call, thread_id, 'threads:read')
      return runs.ofTask(call, thread_id, task_id)
    },
    async tasks(call, search) {
      const { visible } = await ask('threads:search', { metadata: { assistant_id: search.assistant_id } })
      return runs.tasks({ ...call, access: { visible } }, search)
    },
    async remove(call, thread_id, run_id) {
      await checks.run(call, thread_id, run_id, 'threads:delete')
      await runs.remove(call, thread_id, run_id)
    },
    async cancel(call, thread_id, run_id, options) {
      const { action, early } = options
      // An early cancel may name a run that does not exist yet. Then only the thread is checked.
      if (early && thread_id !== null)
        await checks.thread(call, thread_id, 'threads:update', { run_id, action })
      else await checks.run(call, thread_id, run_id, 'threads:update', { action })
      await runs.cancel(call, thread_id, run_id, options)
    },
    async cancelMany(call, selector, options) {
      const named =
        'run_ids' in selector
          ? { thread_id: selector.thread_id, metadata: { run_ids: [...selector.run_ids] } }
          : { metadata: { status: selector.status } }
      const { visible } = await ask('threads:update', { action: options.action, ...named })
      return runs.cancelMany(call, { ...selector, visible }, options)
    },
    totals: (call, run) => runs.totals(call, run),
  }
}
