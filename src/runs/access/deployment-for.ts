import type { AssistantStore } from '../assistant-store.ts'
import { noAssistant } from '../create-runs.ts'
import type { Crons } from '../crons.ts'
import type { Lists } from '../lists.ts'
import type { AccessUser, Tenant } from '../model.ts'
import type { AssistantFacts } from '../plan-run.ts'
import type { Call, Runs } from '../runs.ts'
import type { Streams } from '../streams.ts'
import { systemAssistantId } from '../system-assistants.ts'
import type { Threads } from '../threads.ts'
import { assistantsFor } from './assistants.ts'
import { cronsFor } from './crons.ts'
import { itemsFor, type ItemVerbs } from './items.ts'
import { listsFor } from './lists.ts'
import { type AccessRules, type Ask, askFor, sees } from './rulings.ts'
import { createRunChecks } from './run-checks.ts'
import { runsFor } from './runs.ts'
import { streamsFor } from './streams.ts'
import { threadsFor } from './threads.ts'

/** All that requests can reach of a deployment. */
export interface Reachable {
  runs: Runs
  threads: Threads
  streams: Streams
  crons: Crons
  assistants: AssistantStore
  items: ItemVerbs
  lists: Lists
  /** By id or by name of its graph. */
  findAssistant(tenant: Tenant, id_or_graph: string): Promise<AssistantFacts | undefined>
}

/**
 * A deployment as one user of its own auth file may reach it: each verb asks the file's handlers first, and what their
 * filters leave out is not there. Everything else works as it does without.
 */
export function deploymentFor(all: Reachable, rules: AccessRules, user: AccessUser): Reachable {
  const ask = askFor(rules, user)
  const threads = threadsFor(all.threads, ask)
  const assertAssistant = assistantCheck(all, ask)
  const checks = createRunChecks({ ...all, assertAssistant }, ask)
  const assistants = assistantsFor(all.assistants, ask)
  return {
    threads,
    runs: runsFor(all.runs, checks, ask),
    streams: streamsFor(all.streams, checks),
    crons: cronsFor({ crons: all.crons, threads, assertAssistant }, ask),
    assistants,
    items: itemsFor(all.items, ask),
    lists: listsFor({ lists: all.lists, assistants, checks }, ask),
    async findAssistant(tenant, asked) {
      const assistant = await all.findAssistant(tenant, asked)
      if (assistant === undefined) return undefined
      const { assistant_id, metadata } = assistant
      const ruling = await ask('assistants:read', { assistant_id, metadata })
      return sees(ruling, metadata) ? assistant : undefined
    },
  }
}

/** Runs for a user's cron, which makes them while the user is away. */
export function runsOfUser(
  all: Pick<Reachable, 'runs' | 'threads' | 'findAssistant'>,
  rules: AccessRules,
  user: AccessUser,
): Runs {
  const ask = askFor(rules, user)
  return runsFor(all.runs, createRunChecks({ ...all, assertAssistant: assistantCheck(all, ask) }, ask), ask)
}

/**
 * Whether a user may run an assistant. The one that stands for a graph is everybody's; of others a run would show the
 * configuration, so that they must be visible.
 */
function assistantCheck({ findAssistant }: Pick<Reachable, 'findAssistant'>, ask: Ask) {
  return async ({ tenant }: Call, asked: string): Promise<void> => {
    const assistant = await findAssistant(tenant, asked)
    if (assistant === undefined) throw noAssistant(asked)
    const { assistant_id, graph_id, metadata } = assistant
    if (assistant_id === systemAssistantId(graph_id)) return
    if (!sees(await ask('assistants:read', { assistant_id, metadata }), metadata)) throw noAssistant(asked)
  }
}
