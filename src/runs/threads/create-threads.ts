import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { newTimeUuid, parseUuid } from '../../base/ids.ts'
import type { EventLog } from '../../events/event-log.ts'
import { isObject, type JsonObject, text } from '../../schema/json.ts'
import { noThread } from '../create-runs.ts'
import type { GraphAnswer, GraphCall, GraphHost } from '../execute/graph-host.ts'
import type { Tenant, Thread, ThreadTtl } from '../model.ts'
import { type AssistantFacts, standingConfig } from '../plan-run.ts'
import type { RunStore } from '../run-store.ts'
import type { Call, Runs } from '../runs.ts'
import { readableConfig } from '../shared-context.ts'
import { stateEvent } from '../streams/state-event.ts'
import type { ThreadRequest, Threads } from './threads.ts'

export interface ThreadsDeps {
  store: RunStore
  runs: Runs
  events: EventLog
  /** @throws AppError not_found for a deployment that this server does not serve */
  hostOf(tenant: Tenant): GraphHost
  /** The assistant, by its id or by the name of its graph; undefined when there is none. */
  findAssistant(tenant: Tenant, id_or_graph: string): Promise<AssistantFacts | undefined>
  /** The ttl of threads that are created without one (langgraph.json, `checkpointer.ttl`). */
  defaultTtl: ThreadTtl | null
  clock: Clock
}

/** State of a thread without a graph. */
const EMPTY_STATE = JSON.stringify({
  values: {},
  next: [],
  tasks: [],
  metadata: {},
  created_at: null,
  checkpoint: null,
  parent_checkpoint: null,
  interrupts: [],
})

export function createThreads(deps: ThreadsDeps): Threads {
  const { store } = deps
  return {
    create: (call, request) => create(deps, call, request),
    get: (call, thread_id) => getThread(deps, call, thread_id),
    async update({ tenant }, thread_id, change) {
      const thread = await store.updateThread(tenant, thread_id, change)
      if (thread === undefined) throw noThread(thread_id)
      return thread
    },
    async remove(call, thread_id) {
      if ((await removeAll(deps, call, [thread_id])) === 0) throw noThread(thread_id)
    },
    search: ({ tenant }, search) => store.searchThreads(tenant, search),
    async copy({ tenant }, thread_id) {
      const copy = await store.copyThread(tenant, thread_id, newTimeUuid(deps.clock.now()))
      if (copy === undefined) throw noThread(thread_id)
      return copy
    },
    async storage(call, thread_id) {
      await getThread(deps, call, thread_id)
      return await store.threadStorage(call.tenant, thread_id)
    },
    prune(call, thread_ids, strategy) {
      if (strategy === 'delete') return removeAll(deps, call, thread_ids)
      return store.deleteThreads(call.tenant, thread_ids, 'latest_checkpoint')
    },
    async state(call, thread_id, { checkpoint, subgraphs }) {
      const thread = await getThread(deps, call, thread_id)
      const graph_id = graphOf(thread)
      if (graph_id === undefined) return emptyState(checkpoint)
      const about = { graph_id, ...(await configsOf(deps, call, thread, checkpoint)) }
      return (await ask(deps, call, { name: 'state', ...about, subgraphs })).body
    },
    async updateState(call, thread_id, { values, as_node, checkpoint }) {
      const thread = await getThread(deps, call, thread_id)
      const graph_id = graphOf(thread)
      if (graph_id === undefined) throw needsGraph(`Thread ${thread_id} has no graph ID`)
      if (thread.status === 'busy') throw new AppError('thread_busy')
      const about = { graph_id, ...(await configsOf(deps, call, thread, checkpoint)) }
      const answer = await ask(deps, call, { name: 'update_state', ...about, values, as_node })
      return keep(deps, call, thread_id, answer)
    },
    async history(call, thread_id, { limit, before, metadata, checkpoint, select }) {
      const thread = await getThread(deps, call, thread_id)
      const graph_id = graphOf(thread)
      if (graph_id === undefined) return { body: '[]' }
      const about = { graph_id, ...(await configsOf(deps, call, thread, checkpoint ?? undefined)) }
      return ask(deps, call, { name: 'history', ...about, limit, before, metadata, select })
    },
  }
}

async function getThread({ store }: ThreadsDeps, { tenant }: Call, thread_id: string): Promise<Thread> {
  const thread = await store.getThread(tenant, thread_id)
  if (thread === undefined) throw noThread(thread_id)
  return thread
}

function ask({ hostOf }: ThreadsDeps, { tenant }: Call, asked: GraphCall): Promise<GraphAnswer> {
  return hostOf(tenant).call(tenant, asked)
}

/** Stores a client's change of a thread's state and notifies its streams. */
async function keep(
  { store, events }: ThreadsDeps,
  { tenant }: Call,
  thread_id: string,
  { body, state }: GraphAnswer,
): Promise<string> {
  if (state === undefined) return body
  const { values_json, next, interrupts } = state
  await store.updateThread(tenant, thread_id, { state: { values_json, next, interrupts } })
  const item = { ...stateEvent(thread_id, state), run_id: null }
  await events.append({ ...tenant, thread_id }, [item], null)
  return body
}

async function create(deps: ThreadsDeps, call: Call, request: ThreadRequest): Promise<Thread> {
  const { store, clock, defaultTtl } = deps
  const { tenant } = call
  const { metadata = {}, supersteps = [], ttl = defaultTtl } = request
  const graph_id = text(metadata['graph_id'])
  if (supersteps.length > 0 && graph_id === undefined) throw needsGraph('supersteps need metadata.graph_id.')
  const thread_id = chosenId(request.thread_id) ?? newTimeUuid(clock.now())
  const made = await store.createThread(tenant, { thread_id, metadata, config: {}, ttl })
  if (made.kind === 'exists') {
    if (request.if_exists === 'do_nothing') return made.thread
    throw new AppError('conflict', { message: 'Thread already exists' })
  }
  if (supersteps.length === 0 || graph_id === undefined) return made.thread
  try {
    const config = configOf(thread_id)
    await keep(
      deps,
      call,
      thread_id,
      await ask(deps, call, { name: 'bulk_update', graph_id, config, supersteps }),
    )
    return await getThread(deps, call, thread_id)
  } catch (error) {
    await store.deleteThreads(tenant, [thread_id], 'nothing')
    throw error
  }
}

async function removeAll(deps: ThreadsDeps, call: Call, thread_ids: readonly string[]): Promise<number> {
  const { store, events } = deps
  const { tenant } = call
  for (const thread_id of thread_ids) {
    const thread = await store.getThread(tenant, thread_id)
    if (thread?.status === 'busy') await endRuns(deps, call, thread_id)
  }
  const count = await store.deleteThreads(tenant, thread_ids, 'nothing')
  for (const thread_id of thread_ids) {
    await events.drop({ ...tenant, thread_id })
  }
  return count
}

/** Rolls back active runs, so that nothing writes to a thread that is being deleted. */
async function endRuns({ store, runs }: ThreadsDeps, call: Call, thread_id: string): Promise<void> {
  const run_ids = await store.activeRunIds(call.tenant, thread_id)
  if (run_ids.length === 0) return
  await runs.cancelMany(call, { thread_id, run_ids }, { action: 'rollback', wait: true }).catch(isNothingLeft)
}

/** Handler for rejections: ignores `not_found`, since the active runs have ended meanwhile. */
function isNothingLeft(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
}

function chosenId(thread_id: string | undefined): string | undefined {
  if (thread_id === undefined) return undefined
  const id = parseUuid(thread_id)
  if (id === undefined) throw new AppError('invalid_request', { message: 'thread_id must be a UUID.' })
  return id
}

function needsGraph(message: string): AppError {
  return new AppError('invalid_request', { message })
}

function graphOf({ metadata }: Thread): string | undefined {
  return text(metadata['graph_id'])
}

/**
 * The state of a thread without a graph. @throws AppError not_found for any checkpoint, since such a thread has none
 */
function emptyState(checkpoint: JsonObject = {}): string {
  const { checkpoint_id } = checkpoint
  if (typeof checkpoint_id !== 'string' || checkpoint_id === '') return EMPTY_STATE
  throw new AppError('not_found', { message: `No checkpoint "${checkpoint_id}" on this thread.` })
}

/**
 * The config that names a checkpoint, and the config for a graph factory. The latter is the same as for a run, so that
 * the factory makes the same graph.
 */
async function configsOf(
  { findAssistant, hostOf }: ThreadsDeps,
  call: Call,
  thread: Thread,
  checkpoint?: JsonObject,
): Promise<{ config: JsonObject; made_with: JsonObject }> {
  const { thread_id, metadata } = thread
  const { graph_id, assistant_id } = metadata
  const assistant =
    typeof assistant_id === 'string' ? await findAssistant(call.tenant, assistant_id) : undefined
  const config = assistant === undefined ? {} : readableConfig(assistant, hostOf(call.tenant).graphs())
  const standing = standingConfig(call, { config }, thread)
  const identity = { thread_id, graph_id, assistant_id } as JsonObject
  const made_with = { ...standing, configurable: { ...standing.configurable, ...identity } }
  return { config: configOf(thread_id, checkpoint), made_with }
}

/** LangGraph's config for a thread, or for one of its checkpoints. */
function configOf(thread_id: string, checkpoint: JsonObject = {}): JsonObject {
  const { checkpoint_id, checkpoint_ns, checkpoint_map } = checkpoint
  return {
    configurable: {
      checkpoint_ns: checkpoint_ns ?? '',
      ...(typeof checkpoint_id === 'string' && { checkpoint_id }),
      ...(isObject(checkpoint_map) && { checkpoint_map }),
      thread_id,
    },
  }
}
