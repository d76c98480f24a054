import { within } from '../../base/background/within.ts'
import { placeInUserCode } from '../project/load-failure.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { V2_ENTRIES } from '../../base/text/v2-entries.ts'
import { AppError } from '../../base/errors.ts'
import type { GraphEnd, GraphJob, GraphState, StreamItem } from '../../runs/execute/graph-host.ts'
import { withoutRuntimeKeys, withoutStepMetadata } from '../../schema/config-keys.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import { runInput } from './run-input.ts'
import { bindCopy, bindGraph } from './bind-graph.ts'
import type { GraphStorage } from './storage.ts'
import type { AnyGraph, LoadedGraphs } from './load-graphs.ts'
import { liveSnapshot } from './state/live-snapshot.ts'
import { SealableSaver } from './state/sealable-saver.ts'
import { type StreamChunk, createStreamItems, type StreamItems } from './stream/stream-items.ts'
import { toGraphState } from './state/thread-state.ts'
import { createStepPace, PaceHandler, type Receiver } from './state/step-pace.ts'
import { NodeCounter } from './node-counter.ts'
import { createRunTracer, placeIn } from './trace/tracing.ts'
import { readGraphEvents } from './stream/graph-events.ts'

export type GraphJobEnd = Exclude<GraphEnd, { kind: 'lost' }>

export interface ExecuteDeps {
  graphs: LoadedGraphs
  storage: GraphStorage
  /** Prepares the models of a graph for runs of protocol v2. */
  modelsOf(graph_id: string): Promise<void>
  /** The project to which runs are traced. */
  project: string
  versions: { langgraph: string }
  /** The event loop of the process as a receiver; see `createTurns`. */
  turns: Receiver
}

export interface JobOutput extends Receiver {
  items(items: StreamItem[]): void
  trace(body: string): void
}

export const CANCELLED = new Error('The run was cancelled.')

/** The abort reason of a cancel by rollback; the end of the run then needs no state. */
export const ROLLED_BACK = new Error('The run is rolled back.')

/** After a cancel, a stream of LangGraph that does not end within this time is abandoned. */
const ABANDON_MS = 50
/** Time limit for storing the last writes of a stream: its events may be sent before its checkpoints are stored. */
const SETTLE_MS = 10_000

/** Executes a run to its end; aborting `signal` with CANCELLED or ROLLED_BACK cancels it. Never rejects. */
export async function executeJob(
  deps: ExecuteDeps,
  job: GraphJob,
  output: JobOutput,
  signal: AbortSignal,
): Promise<GraphJobEnd> {
  const { run } = job
  output.items([{ event: 'metadata', data: JSON.stringify({ run_id: run.run_id, attempt: run.attempt }) }])
  const ahead = run.kwargs.durability !== 'sync'
  const options = { ahead, fresh: job.fresh === true }
  const checkpointer = deps.storage.runCheckpointer(job.tenant, job.lease, options)
  const pace = createStepPace([deps.turns, checkpointer, output])
  const saver = new SealableSaver(checkpointer, pace)
  const tracer =
    job.trace_id === null
      ? undefined
      : createRunTracer(deps.project, output.trace, placeIn(run.kwargs.caller_trace, job.trace_id))
  const counter = new NodeCounter()
  const callbacks = [
    counter,
    ...(tracer === undefined ? [] : [tracer.handler]),
    ...(run.kwargs.durability === 'exit' ? [new PaceHandler(pace)] : []),
  ]
  const items = createStreamItems(new Set(run.kwargs.stream_mode), run.kwargs.subgraphs)
  let graph: AnyGraph | undefined
  let failure: { thrown: unknown } | undefined
  try {
    const config = graphConfig(job, deps)
    graph = (run.kwargs.protocol === 2 ? bindCopy : bindGraph)(
      await deps.graphs.graph(run.graph_id, factoryConfig(config), {
        accessContext: 'threads.create_run',
        executionRuntime: { context: run.kwargs.context },
      }),
      saver,
      deps.storage.store(job.tenant),
    )
    if (run.kwargs.protocol === 2) await deps.modelsOf(run.graph_id)
    const begin = await runInput(job, graph, saver)
    const unnamed = graph.getName() === UNNAMED ? run.graph_id : undefined
    const named = { ...config, run_name: config.run_name ?? unnamed }
    const streaming = streamOptions(job, begin.configurable, named, signal, callbacks)
    await consume({ graph, input: begin.input, options: streaming, run, items, output, signal })
    if (!signal.aborted) await saver.stored()
  } catch (thrown) {
    failure = { thrown }
  }
  const isRolledBack = signal.reason === ROLLED_BACK
  const cancelled = signal.reason === CANCELLED || isRolledBack
  if (signal.aborted && !cancelled) failure = { thrown: signal.reason }
  const isClean = failure === undefined && !signal.aborted
  if (!isClean) await within(saver.settled(), SETTLE_MS, () => undefined)
  saver.seal()
  const last = isClean ? graph : graph && stored(deps, job, graph)
  const state = isRolledBack ? undefined : last && (await lastState(last, run.thread_id))
  tracer?.end('The run was cancelled.')
  const { nodes } = counter
  if (cancelled) return { kind: 'cancelled', state, nodes }
  if (failure !== undefined) return { ...failed(failure.thrown, state, output), nodes }
  const closing = items.atEnd()
  if (closing.length > 0) output.items(closing)
  return { kind: 'done', state, values: items.lastValues(), nodes }
}

type Configurable = Record<string, unknown>

interface RunConfig {
  tags: string[]
  metadata: JsonObject
  recursion_limit: number | undefined
  max_concurrency: number | undefined
  run_name: string | undefined
  configurable: Configurable
}

/** The name of a graph that was compiled without one. */
const UNNAMED = 'LangGraph'

/** The run's config in LangGraph's form. The fields that identify the run override those of the client. */
function graphConfig({ run }: GraphJob, { versions }: ExecuteDeps): RunConfig {
  // Runs that earlier versions stored may still contain runtime keys.
  const config = withoutRuntimeKeys(run.kwargs.config)
  const tags = config['tags']
  const identity = {
    run_id: run.run_id,
    thread_id: run.thread_id,
    graph_id: run.graph_id,
    assistant_id: run.assistant_id,
  }
  return {
    tags: Array.isArray(tags) ? tags.map(String) : [],
    metadata: {
      ...withoutStepMetadata({
        ...(isObject(config['metadata']) ? config['metadata'] : {}),
        ...run.metadata,
      }),
      ...identity,
      run_attempt: run.attempt,
      langgraph_version: versions.langgraph,
    },
    recursion_limit: limitOf(config, 'recursion_limit'),
    max_concurrency: limitOf(config, 'max_concurrency'),
    run_name: typeof config['run_name'] === 'string' ? config['run_name'] : undefined,
    configurable: {
      ...(isObject(config['configurable']) ? config['configurable'] : {}),
      ...identity,
    },
  }
}

function limitOf(config: JsonObject, name: 'recursion_limit' | 'max_concurrency'): number | undefined {
  const limit = config[name]
  return typeof limit === 'number' ? limit : undefined
}

function factoryConfig({ configurable, ...rest }: RunConfig): JsonObject {
  return { ...rest, configurable: configurable as JsonObject }
}

function streamOptions(
  { run, trace_id }: GraphJob,
  checkpoint: Configurable,
  config: RunConfig,
  signal: AbortSignal,
  callbacks: readonly object[],
): Record<string, unknown> {
  const { kwargs } = run
  return {
    runId: trace_id ?? run.run_id,
    ...(config.run_name === undefined ? {} : { runName: config.run_name }),
    tags: config.tags,
    metadata: config.metadata,
    configurable: { ...config.configurable, ...checkpoint, ...strictness(run) },
    context: kwargs.context,
    ...(config.recursion_limit === undefined ? {} : { recursionLimit: config.recursion_limit }),
    ...(config.max_concurrency === undefined ? {} : { maxConcurrency: config.max_concurrency }),
    ...(kwargs.interrupt_before === null ? {} : { interruptBefore: kwargs.interrupt_before }),
    ...(kwargs.interrupt_after === null ? {} : { interruptAfter: kwargs.interrupt_after }),
    callbacks,
    // With `sync`, LangGraph waits for the checkpointer after each step. The checkpointer decides whether the run may
    // continue before the step is stored.
    durability: kwargs.durability === 'exit' ? 'exit' : 'sync',
    subgraphs: kwargs.subgraphs,
    streamMode: libraryModes(kwargs.stream_mode),
    signal,
  }
}

/**
 * LangGraph's setting to refuse answers to interrupts that are no longer open. It is set only for the first attempt: a
 * later attempt may find that the first one has already answered some of the interrupts.
 */
function strictness({ kwargs, attempt }: GraphJob['run']): Configurable {
  return kwargs.strict_resume === true && attempt === 1 ? { __pregel_strict_resume: true } : {}
}

/**
 * Converts the modes of a request to LangGraph's modes. The result always contains `values`, which the state and the
 * response of `wait` need.
 */
function libraryModes(modes: readonly string[]): string[] {
  const wanted = new Set(['values'])
  for (const mode of modes) {
    if (mode === 'messages-tuple') wanted.add('messages')
    else if (mode !== 'events') wanted.add(mode)
  }
  return [...wanted]
}

/** The arguments of one execution: the graph, its input and options, and the receiver of its items. */
interface Reading {
  graph: AnyGraph
  input: unknown
  options: Record<string, unknown>
  run: GraphJob['run']
  items: StreamItems
  output: JobOutput
  signal: AbortSignal
}

async function consume({ graph, input, options, run, items, output, signal }: Reading): Promise<void> {
  const subgraphs = options['subgraphs'] === true
  let isLeft = false
  const emit = (made: StreamItem[]) => {
    // After a cancel, only lifecycle events are sent.
    const shown = signal.aborted ? made.filter(({ event }) => event.startsWith(V2_ENTRIES.lifecycle)) : made
    if (shown.length > 0 && !isLeft) output.items(shown)
  }
  const byModes = (): Promise<void> =>
    readStream(graph, input, options, (chunk) => emit(items.ofChunk(toChunk(chunk, subgraphs))))
  const read = (): Promise<void> => {
    if (run.kwargs.protocol === 2) return readGraphEvents(graph, input, options, items, emit, byModes)
    if (!run.kwargs.stream_mode.includes('events')) return byModes()
    return readEvents(graph, input, options, (event) =>
      emit(itemsOfEvent(event, items, subgraphs, options['runId'])),
    )
  }
  const reading = read()
  await Promise.race([reading, abandoned(signal, reading)]).finally(() => {
    isLeft = true
  })
}

async function readStream(
  graph: AnyGraph,
  input: unknown,
  options: Record<string, unknown>,
  each: (chunk: unknown) => void,
): Promise<void> {
  const stream = await graph.stream(input, options)
  for await (const chunk of stream) each(chunk)
}

interface StreamEvent {
  event: string
  run_id: string
  tags?: string[]
  data: { chunk?: unknown }
}

async function readEvents(
  graph: AnyGraph,
  input: unknown,
  options: Record<string, unknown>,
  each: (event: StreamEvent) => void,
): Promise<void> {
  const events = graph.streamEvents(input, { ...options, version: 'v2' })
  for await (const event of events as AsyncIterable<StreamEvent>) {
    if (event.tags?.includes('langsmith:hidden') !== true) each(event)
  }
}

/**
 * Converts an event to items: an event of the root stream to items of its modes, any other event to an `events` item.
 */
function itemsOfEvent(
  event: StreamEvent,
  items: StreamItems,
  subgraphs: boolean,
  root: unknown,
): StreamItem[] {
  if (event.event !== 'on_chain_stream' || event.run_id !== root) return [items.ofEvent(event)]
  return items.ofChunk(toChunk(event.data.chunk, subgraphs))
}

function toChunk(chunk: unknown, subgraphs: boolean): StreamChunk {
  if (subgraphs) return chunk as StreamChunk
  const [mode, data] = chunk as [string, unknown]
  return [[], mode, data]
}

/**
 * Resolves when `reading` has ended, or ABANDON_MS after a cancel. So a node that ignores the cancel cannot delay the
 * end of the run.
 */
function abandoned(signal: AbortSignal, reading: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const leave = () => void sleep(ABANDON_MS).then(resolve)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    reading.then(resolve, resolve).finally(() => signal.removeEventListener('abort', leave))
  })
}

/**
 * The graph with a checkpointer that reads stored checkpoints. Values in memory are not used, because an interrupted
 * node may have changed them.
 */
function stored({ storage }: ExecuteDeps, { tenant }: GraphJob, graph: AnyGraph): AnyGraph {
  return bindGraph(graph, storage.checkpointer(tenant), storage.store(tenant))
}

async function lastState(graph: AnyGraph, thread_id: string): Promise<GraphState | undefined> {
  try {
    const snapshot = await liveSnapshot(graph, { configurable: { thread_id, checkpoint_ns: '' } })
    return snapshot.createdAt === undefined ? undefined : toGraphState(snapshot)
  } catch {
    return undefined
  }
}

function failed(thrown: unknown, state: GraphState | undefined, output: JobOutput): GraphJobEnd {
  const { error, message } = describeError(thrown)
  output.items([{ event: 'error', data: JSON.stringify({ error, message, ...refusalOf(thrown) }) }])
  const [node, place] = [failedNode(state), placeInUserCode(thrown)]
  const where = { ...(node !== undefined && { node }), ...(place !== undefined && { place }) }
  const retryable = thrown instanceof AppError && thrown.retryable
  return { kind: 'failed', error, message, retryable, state, ...where }
}

/** The fields of LangGraph's UnknownInterruptError: the reason for which answers to interrupts were refused (V-13). */
function refusalOf(thrown: unknown): object | undefined {
  if (!(thrown instanceof Error) || thrown.name !== 'UnknownInterruptError') return undefined
  const { reason, interruptIds, pendingIds } = thrown as Error & Record<string, unknown>
  return { reason, interrupt_ids: interruptIds, pending_ids: pendingIds }
}

/** The node of the first failed task of a state. */
function failedNode(state: GraphState | undefined): string | undefined {
  if (state === undefined) return undefined
  const { tasks = [] } = JSON.parse(state.rest_json) as { tasks?: { name?: string; error?: unknown }[] }
  return tasks.find(({ error }) => error !== undefined && error !== null)?.name
}

/** Name and message of a thrown value as texts: code of graphs may throw anything, and give errors fields of any type. */
export function describeError(thrown: unknown): { error: string; message: string } {
  if (!(thrown instanceof Error)) return { error: 'Error', message: textOf(thrown) }
  const own = thrown.constructor.name
  const name = thrown.name === 'Error' && own !== '' ? own : thrown.name
  return { error: textOf(name), message: textOf(thrown.message) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value)
}
