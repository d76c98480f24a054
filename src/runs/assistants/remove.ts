import { AppError } from '../../base/errors.ts'
import type { AssistantStore } from './store.ts'
import type { Crons } from '../crons/crons.ts'
import type { GraphInfo } from '../execute/graph-host.ts'
import type { Call } from '../runs.ts'
import { systemAssistants } from './system.ts'
import type { Threads } from '../threads/threads.ts'

/** The records that the deletion of an assistant affects. */
export interface RemovalDeps {
  assistants: AssistantStore
  threads: Pick<Threads, 'search' | 'remove'>
  crons: Pick<Crons, 'search' | 'remove'>
  /** The graphs of the deployment. */
  graphs: readonly GraphInfo[]
}

const AT_ONCE = 100

/**
 * Deletes an assistant with its versions and crons, and, if requested, with the threads that have it as
 * `metadata.assistant_id`. Its runs are not deleted and continue. The default assistant of a graph is created again at
 * once, so that a graph always has one. Returns whether the assistant existed.
 */
export async function removeAssistant(
  deps: RemovalDeps,
  call: Call,
  assistant_id: string,
  withThreads: boolean,
): Promise<boolean> {
  const { assistants, graphs } = deps
  if ((await assistants.get(call.tenant, assistant_id)) === undefined) return false
  await removeCrons(deps, call, assistant_id)
  if (withThreads) await removeThreads(deps, call, assistant_id)
  const wasThere = await assistants.remove(call.tenant, assistant_id)
  const ofGraph = systemAssistants(graphs).filter((assistant) => assistant.assistant_id === assistant_id)
  await assistants.ensure(call.tenant, ofGraph)
  return wasThere
}

async function removeCrons({ crons }: RemovalDeps, call: Call, assistant_id: string): Promise<void> {
  const page = { sort_by: 'created_at', sort_order: 'asc', limit: AT_ONCE, offset: 0 } as const
  for (;;) {
    const found = await crons.search(call, { assistant_id, ...page })
    const removed = found.crons.map(({ cron_id }) => crons.remove(call, cron_id).then(isDone, isGone))
    // Crons of this page that could not be removed are on the next page too. So the loop ends when none was removed.
    if (!(await Promise.all(removed)).includes(true)) return
  }
}

async function removeThreads({ threads }: RemovalDeps, call: Call, assistant_id: string): Promise<void> {
  const page = { sort_by: 'created_at', sort_order: 'asc', limit: AT_ONCE, offset: 0 } as const
  for (;;) {
    const found = await threads.search(call, { metadata: { assistant_id }, with_values: false, ...page })
    const removed = found.threads.map(({ thread_id }) => threads.remove(call, thread_id).then(isDone, isGone))
    if (!(await Promise.all(removed)).includes(true)) return
  }
}

function isDone(): boolean {
  return true
}

/** Handler for rejections: false if the record is already gone or the user may not remove it. */
function isGone(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
  return false
}
