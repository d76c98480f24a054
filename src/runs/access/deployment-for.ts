import type { AssistantStore } from '../assistants/store.ts'
import { noAssistant } from '../create-runs.ts'
import type { Crons } from '../crons/crons.ts'
import type { LargeItems } from '../items/large-items.ts'
import type { Lists } from '../lists/lists.ts'
import type { AccessUser, Tenant } from '../model.ts'
import type { AssistantFacts } from '../plan-run.ts'
import type { Call, Runs } from '../runs.ts'
import type { Streams } from '../streams/streams.ts'
import { systemAssistantId } from '../assistants/system.ts'
import type { Threads } from '../threads/threads.ts'
import { assistantsFor } from './assistants.ts'
import { cronsFor } from './crons.ts'
import { itemsFor, type ItemVerbs } from './items.ts'
import { listsFor } from './lists.ts'
import { type AccessRules, type Ask, askFor, passesRuling } from './rulings.ts'
import { createRunChecks } from './run-checks.ts'
import { runsFor } from './runs.ts'
import { streamsFor } from './streams.ts'
import { threadsFor } from './threads.ts'

/** The parts of a deployment that requests use. */
export interface Reachable {
  runs: Runs
  threads: Threads
  streams: Streams
  crons: Crons
  assistants: AssistantStore
  items: ItemVerbs
  largeItems: LargeItems
  lists: Lists
  /** Returns the assistant with this id, or the default assistant of the graph with this name. */
  findAssistant(tenant: Tenant, id_or_graph: string): Promise<AssistantFacts | undefined>
}

/**
 * A deployment with the permissions of one user. The deployment's auth file has authenticated the user. Each method
 * first calls the handlers of the auth file. A record that the filter of a handler excludes is treated as missing.
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
    items: itemsFor(all.items, ask, all.largeItems),
    largeItems: all.largeItems,
    lists: listsFor({ lists: all.lists, assistants, checks }, ask),
    async findAssistant(tenant, asked) {
      const assistant = await all.findAssistant(tenant, asked)
      if (assistant === undefined) return undefined
      const { assistant_id, metadata } = assistant
      const ruling = await ask('assistants:read', { assistant_id, metadata })
      return passesRuling(ruling, metadata) ? assistant : undefined
    },
  }
}

/**
 * Runs with the permissions of the user of a cron. The user is stored with the cron, because a due cron has no request.
 */
export function runsOfUser(
  all: Pick<Reachable, 'runs' | 'threads' | 'findAssistant'>,
  rules: AccessRules,
  user: AccessUser,
): Runs {
  const ask = askFor(rules, user)
  return runsFor(all.runs, createRunChecks({ ...all, assertAssistant: assistantCheck(all, ask) }, ask), ask)
}

/**
 * Checks whether a user may run an assistant. Every user may run the default assistant of a graph. Any other assistant
 * must be visible to the user, because its runs show its configuration.
 */
function assistantCheck({ findAssistant }: Pick<Reachable, 'findAssistant'>, ask: Ask) {
  return async ({ tenant }: Call, asked: string): Promise<void> => {
    const assistant = await findAssistant(tenant, asked)
    if (assistant === undefined) throw noAssistant(asked)
    const { assistant_id, graph_id, metadata } = assistant
    if (assistant_id === systemAssistantId(graph_id)) return
    if (!passesRuling(await ask('assistants:read', { assistant_id, metadata }), metadata))
      throw noAssistant(asked)
  }
}
