import type { ChatModelStreamEvent } from '@langchain/core/language_models/event'
import type { Run as TracedRun } from '@langchain/core/tracers/base'
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain'
import type { CallerTrace } from '../../../runs/model.ts'

/** Records one run of a graph as trace operations. */
export interface RunTracer {
  /** Callbacks to be added to those of the run. */
  handler: LangChainTracer
  /**
   * Ends open TraceRuns with `error`, then sends the remaining operations. An abandoned node does not report its own
   * end.
   */
  end(error: string): void
}

/** Time for which an operation waits for others. It is short, so that users can watch a long run. */
const FLUSH_MS = 250

/** A body with more than this number of characters is sent; further operations go into another body. */
const BODY_CHARS = 4 << 20

/**
 * A tracer that passes its operations to `send` as batch bodies (`{"post":[…],"patch":[…]}`), a quarter of a second
 * after the first operation and at the end. A TraceRun that begins and ends between two bodies is one operation.
 */
export function createRunTracer(
  ownProject: string,
  send: (body: string) => void,
  place = placeIn(undefined, ''),
): RunTracer {
  const project = place.project ?? ownProject
  const pending = new Map<string, Operation>()
  const posted = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let ended = false

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const body = createBody(send)
    for (const [id, operation] of pending) {
      if (posted.has(id)) body.add('patch', operationText(operation, place))
      else if (!isNoise(operation)) body.add('post', operationText(operation, place))
      posted.add(id)
    }
    pending.clear()
    body.send()
  }

  function collect(id: string, operation: Operation): void {
    if (ended) return
    pending.set(id, operation)
    timer ??= setTimeout(flush, FLUSH_MS).unref()
  }

  const tracer = new CollectingTracer(project, collect, place)
  return {
    handler: tracer,
    end(error) {
      tracer.closeAll(error)
      flush()
      ended = true
    },
  }
}

/** Collects texts of operations in order. Passes them to `send` as a body when they exceed `BODY_CHARS`. */
function createBody(send: (body: string) => void) {
  let texts = { post: [] as string[], patch: [] as string[] }
  let chars = 0
  const body = {
    add(kind: 'post' | 'patch', text: string): void {
      texts[kind].push(text)
      chars += text.length
      if (chars > BODY_CHARS) body.send()
    },
    send(): void {
      if (chars > 0) send(`{"post":[${texts.post.join(',')}],"patch":[${texts.patch.join(',')}]}`)
      texts = { post: [], patch: [] }
      chars = 0
    },
  }
  return body
}

/**
 * A TraceRun, which is converted to text when it is sent; or a finished operation of `traceable` code inside a node.
 */
type Operation =
  | { run: TracedRun; parents: ReadonlySet<string>; project: string }
  | { ready: Record<string, unknown> }

type Collect = (id: string, operation: Operation) => void

/**
 * LangChain's tracer without its run trees. LangChain builds several run trees for each step. Building them took 2 ms
 * per run, and the time grew with the square of the number of steps. A run tree is only built when `traceable` code
 * inside a node needs it.
 */
class CollectingTracer extends LangChainTracer {
  override usesRunTreeMap = false
  readonly #collect: Collect
  readonly #place: RecordPlace
  readonly #parents = new Set<string>()
  readonly #timed = new Set<string>()
  /** TraceRuns that `closeAll` has ended; later callbacks for them are ignored. */
  readonly #closed = new Map<string, TracedRun>()

  constructor(project: string, collect: Collect, place: RecordPlace) {
    super({ client: collectingClient(collect) as never, projectName: project })
    this.#collect = collect
    this.#place = place
  }

  override async onRunCreate(run: TracedRun): Promise<void> {
    this.#add(run)
  }

  override async onRunUpdate(run: TracedRun): Promise<void> {
    this.#add(run)
  }

  /**
   * Does not store children, which would keep the whole trace in memory until its end. Records only that the parent has
   * some.
   */
  protected override _addChildRun(parent: TracedRun): void {
    this.#parents.add(parent.id)
  }

  /**
   * Records only the first token, for its time. All tokens with their chunks would be the largest part of the trace.
   */
  override async handleLLMNewToken(token: string, _index: unknown, runId: string): Promise<TracedRun> {
    const run = this.getRunById(runId)
    if (run === undefined) throw new Error('No llm run for a token.')
    if (!this.#timed.has(runId)) {
      this.#timed.add(runId)
      run.events.push({ name: 'new_token', time: new Date().toISOString(), kwargs: { token } })
    }
    return run
  }

  /** Records the first token, for its time, if the events of the model are read instead of its tokens (V-47). */
  override async handleChatModelStreamEvent(event: ChatModelStreamEvent, runId: string): Promise<void> {
    if (event.event !== 'content-block-delta' || this.#timed.has(runId)) return
    const token = 'text' in event.delta ? event.delta.text : ''
    await this.handleLLMNewToken(token, undefined, runId)
  }

  override getRun(id: string): never {
    return this.runMap.get(id) as never
  }

  /** Returns closed TraceRuns too, because LangChain throws and prints an error at the end of an unknown TraceRun. */
  protected override getRunById(id: string | undefined): TracedRun | undefined {
    return id === undefined ? undefined : (this.runMap.get(id) ?? this.#closed.get(id))
  }

  override copyWithTracingConfig(): LangChainTracer {
    return this
  }

  /**
   * Returns a placeholder for a run tree, which LangChain stores in the async context. The real run tree is built when
   * `traceable` code creates a child.
   */
  override getRunTreeWithTracingConfig(id: string): never {
    const run = this.runMap.get(id)
    if (run === undefined) return undefined as never
    const real = (): RunTreeLike => {
      this.runTreeMap.set(id, run as never)
      const tree = super.getRunTreeWithTracingConfig(id)
      this.runTreeMap.delete(id)
      return tree as unknown as RunTreeLike
    }
    return {
      id,
      name: run.name,
      trace_id: run.trace_id,
      dotted_order: run.dotted_order,
      client: this.client,
      project_name: this.projectName,
      tracingEnabled: true,
      createChild: (config: unknown) => real().createChild(config),
      toHeaders: (headers?: unknown) => this.#place.moveHeaders(real().toHeaders(headers)),
      postRun: async () => undefined,
      patchRun: async () => undefined,
    } as never
  }

  /** Ends all open TraceRuns, because the nodes of a cancelled run may report no end. */
  closeAll(error: string): void {
    for (const run of this.runMap.values()) {
      run.end_time = Date.now()
      run.error ??= error
      this.#add(run)
      this.#closed.set(run.id, run)
    }
    this.runMap.clear()
  }

  #add(run: TracedRun): void {
    this.#collect(run.id, { run, parents: this.#parents, project: this.projectName ?? '' })
  }
}

interface RunTreeLike {
  createChild(config: unknown): unknown
  toHeaders(headers?: unknown): unknown
}

/** Receives the operations that `traceable` code sends through the tracer's client. */
function collectingClient(collect: Collect): object {
  const known = new Map<string, Record<string, unknown>>()
  return {
    createRun: async (run: Record<string, unknown>) => {
      known.set(String(run['id']), run)
      collect(String(run['id']), { ready: run })
    },
    updateRun: async (id: string, update: Record<string, unknown>) => {
      const changed = Object.entries(update).filter(([, value]) => value !== undefined)
      const ready = { ...known.get(id), ...Object.fromEntries(changed), id }
      known.delete(id)
      collect(id, { ready })
    },
    awaitPendingTraceBatches: async () => undefined,
  }
}

/** True for a finished operation of LangGraph's own bookkeeping (writes, branches) that has no child. */
function isNoise(operation: Operation): boolean {
  if (!('run' in operation)) return false
  const { run, parents } = operation
  return run.end_time !== undefined && run.tags?.includes('langsmith:hidden') === true && !parents.has(run.id)
}

/** The JSON text of an operation. If its payloads cannot be printed because of a cycle, they are left out. */
function operationText(operation: Operation, { move }: RecordPlace): string {
  const record = move(
    'ready' in operation ? operation.ready : traceRunRecord(operation.run, operation.project),
  )
  try {
    return JSON.stringify(record)
  } catch {
    const {
      inputs: _inputs,
      outputs: _outputs,
      extra: _extra,
      serialized: _serialized,
      events: _events,
      ...rest
    } = record
    return JSON.stringify({ ...rest, inputs: {} })
  }
}

function traceRunRecord(run: TracedRun, project: string): Record<string, unknown> {
  return {
    id: run.id,
    name: run.name,
    run_type: run.run_type,
    start_time: run._serialized_start_time ?? run.start_time,
    end_time: run.end_time,
    error: run.error,
    inputs: run.inputs,
    outputs: run.outputs,
    extra: run.extra,
    serialized: run.run_type === 'llm' ? run.serialized : undefined,
    events: run.events,
    tags: run.tags,
    parent_run_id: run.parent_run_id,
    trace_id: run.trace_id,
    dotted_order: run.dotted_order,
    session_name: project,
  }
}

type Fields = Record<string, unknown>

/** Where the TraceRuns of a run are recorded. */
export interface RecordPlace {
  /** Name of the project; undefined for that of the deployment. */
  project: string | undefined
  /** Moves a TraceRun to its place. */
  move(record: Fields): Fields
  /** Moves the headers that tell another server about a TraceRun. */
  moveHeaders(headers: unknown): unknown
}

const OWN: RecordPlace = { project: undefined, move: (record) => record, moveHeaders: (headers) => headers }

/** The place below a caller's TraceRun, for the run whose root has the id `root`; without a caller, where they are. */
export function placeIn(caller: CallerTrace | undefined, root: string): RecordPlace {
  if (caller === undefined) return OWN
  const { trace_id, parent_run_id, dotted_order, project } = caller
  // Without the order of the parent, that of its children is found when the parent has arrived.
  const below = (order: unknown): string | undefined =>
    dotted_order !== undefined && typeof order === 'string' ? `${dotted_order}.${order}` : undefined
  return {
    project,
    move: (record) => ({
      ...record,
      trace_id,
      dotted_order: below(record['dotted_order']),
      ...(record['id'] === root && { parent_run_id }),
    }),
    moveHeaders(headers) {
      const sent = typeof headers === 'object' && headers !== null ? { ...headers } : {}
      const order = below(Reflect.get(sent, 'langsmith-trace'))
      return order === undefined ? sent : { ...sent, 'langsmith-trace': order }
    },
  }
}
