import { AppError } from '../base/errors.ts'
import type { AssistantStore } from './assistant-store.ts'
import type { Crons } from './crons.ts'
import type { GraphInfo } from './graph-host.ts'
import type { Call } from './runs.ts'
import { systemAssistants } from './system-assistants.ts'
import type { Threads } from './threads.ts'

/** What an assistant's end concerns. */
export interface RemovalDeps {
  assistants: AssistantStore
  threads: Pick<Threads, 'search' | 'remove'>
  crons: Pick<Crons, 'search' | 'remove'>
  /** Of the deployment. */
  graphs: readonly GraphInfo[]
}

const AT_ONCE = 100

/**
 * Deletes an assistant with its versions and crons, and with the threads whose `metadata.assistant_id` it is if they are
 * to go as well. Runs that it has made stay, and go on. The assistant that stands for a graph is made anew at once, so
 * that the graph's name is never without one. Answers whether it was there.
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
    // What is still there, and may be seen but not removed, stays.
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

/** Someone else was first. */
function isGone(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
  return false
}
