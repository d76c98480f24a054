import { GraphLoadError } from '../project/load-failure.ts'
import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../../base/errors.ts'
import { collectGarbage } from '../../base/node/collect-garbage.ts'
import type { GraphJob, GraphState, StreamItem } from '../../runs/execute/graph-host.ts'
import { answerCall, type CallDeps } from './calls.ts'
import { type Channel, type Frame, openChannel } from '../pool/channel.ts'
import {
  CANCELLED,
  describeError,
  type ExecuteDeps,
  executeJob,
  type GraphJobEnd,
  type JobOutput,
  ROLLED_BACK,
} from './execute.ts'
import { installGraphLogger } from './logger.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import type { GraphStorage } from './storage.ts'
import { createHeart, type Heart, openServerSocket, watchProcess, writeLast } from '../pool/vitals.ts'
import type { LoadFailure } from '../project/load-failure.ts'
import { loadGraphs, prepareLoader } from './load-graphs.ts'
import { createImportFor, type ImportFor } from '../project/project-module.ts'
import { createSchemaReader, type SchemaReader } from './schemas.ts'
import { prepareModels } from './stream/model-facts.ts'
import { prepareCallbacks } from './trace/callback-copies.ts'
import { createStateTexts } from './state/state-texts.ts'
import { createTurns } from './state/step-pace.ts'
import {
  type FromHost,
  type HostCall,
  MAX_LOADED_FILES,
  MAX_MESSAGE_CHARS,
  type OpenHost,
  type StateHead,
  type ToHost,
} from '../pool/messages.ts'

/** Opens the storage of graphs with the options of the first message. */
export type OpenStorage = (message: OpenHost) => Promise<GraphStorage>

/** Maximum number of characters in the cache of state texts. */
const KEPT_CHARS = 4 << 20

/**
 * Runs a graph host: opens storage and graphs with the options of the first message, then executes jobs and answers
 * calls. It runs until the server ends it or exits itself. `version` is the version of LangGraph.
 */
export function serveHost(openStorage: OpenStorage, version: string): void {
  new HostChild(openStorage, version).listen()
}

class HostChild {
  readonly #openStorage: OpenStorage
  readonly #version: string
  readonly #jobs = new AsyncLocalStorage<number>()
  readonly #running = new Map<number, AbortController>()
  /** JSON texts of jobs. */
  readonly #offered = new Map<number, Buffer>()
  readonly #socket = openServerSocket()
  readonly #channel: Channel<FromHost>
  readonly #outbox: Outbox
  readonly #heart: Heart
  #deps: (ExecuteDeps & CallDeps) | undefined
  /** While modules are loaded, `process.exit` throws. */
  readonly #exit = process.exit.bind(process)

  constructor(openStorage: OpenStorage, version: string) {
    this.#openStorage = openStorage
    this.#version = version
    this.#channel = openChannel<ToHost, FromHost>(this.#socket, (frame) => void this.#handle(frame))
    this.#outbox = createOutbox(this.#channel)
    this.#heart = createHeart(this.#channel)
  }

  listen(): void {
    watchProcess(this.#channel, this.#jobs, this.#running, (bytes) => writeLast(this.#socket, bytes))
    installGraphLogger((line) =>
      this.#channel.send({ type: 'log', id: this.#jobs.getStore() ?? null, ...line }),
    )
  }

  async #handle({ head, parts: [body = Buffer.alloc(0)] }: Frame<ToHost>): Promise<void> {
    if (head.type === 'open') return this.#open(head)
    if (head.type === 'stop') return this.#stop()
    if (this.#deps === undefined) return
    if (head.type === 'offer') {
      this.#offered.set(head.id, body)
      this.#channel.send({ type: 'ready', id: head.id })
    } else if (head.type === 'go') {
      const job = this.#offered.get(head.id)
      this.#offered.delete(head.id)
      if (job !== undefined) await this.#jobs.run(head.id, () => this.#execute(head.id, job))
    } else if (head.type === 'drop') this.#offered.delete(head.id)
    else if (head.type === 'cancel')
      this.#running.get(head.id)?.abort(head.state === false ? ROLLED_BACK : CANCELLED)
    else if (head.type === 'call') await sendAnswer(this.#channel, this.#deps, head, body)
  }

  async #open(message: OpenHost): Promise<void> {
    const report = createFileReport(this.#channel)
    try {
      const entries = [...message.graphs.map(({ file }) => file), embedFile(message)]
      const files = await prepareLoader(entries, message.report_files ? report.add : undefined)
      const graphs = await loadGraphs(message.graphs, files)
      const { failures } = graphs
      const storage = await this.#openStorage(message)
      collectGarbage('last-resort')
      const versions = { langgraph: this.#version }
      const texts = createStateTexts(KEPT_CHARS)
      const importFor = createImportFor()
      await Promise.all(message.graphs.map(({ file }) => prepareCallbacks(importFor, file)))
      const schemasOf = schemaReaders(message, importFor)
      const modelsOf = (graph_id: string) => prepareModels(importFor, fileOf(message, graph_id))
      const turns = createTurns()
      this.#deps = {
        graphs,
        storage,
        texts,
        schemasOf,
        modelsOf,
        project: message.tracing_project,
        versions,
        turns,
      }
      report.flush()
      if (failures.length < message.graphs.length) this.#channel.send({ type: 'opened', failures })
      else this.#channel.send({ type: 'failed', message: cut(allOf(failures)), failures })
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      report.flush()
      this.#channel.send({ type: 'failed', message: cut(text), failures: [] })
    }
  }

  async #execute(id: number, job: Buffer): Promise<void> {
    const { signal } = this.#begin(id)
    const output = {
      items: (items: StreamItem[]) => this.#outbox.add(id, items),
      trace: (body: string) => this.#channel.send({ type: 'trace', id }, [body]),
      caughtUp: () => this.#channel.caughtUp(),
    }
    const end = await endOf(this.#deps as ExecuteDeps, job, output, signal)
    this.#outbox.flush()
    try {
      sendEnd(this.#channel, id, end)
    } catch (thrown) {
      sendEnd(this.#channel, id, failedUnexpectedly(thrown))
    }
    this.#heart.end()
    this.#running.delete(id)
  }

  #begin(id: number): AbortController {
    const abort = new AbortController()
    this.#running.set(id, abort)
    this.#heart.begin()
    return abort
  }

  async #stop(): Promise<void> {
    await this.#deps?.storage.close().catch(() => undefined)
    this.#exit(0)
  }
}

/** The end of a job, given as JSON text. A job that cannot be read fails: another host could not read it either. */
async function endOf(
  deps: ExecuteDeps,
  job: Buffer,
  output: JobOutput,
  signal: AbortSignal,
): Promise<GraphJobEnd> {
  try {
    return await executeJob(deps, JSON.parse(job.toString('utf8')) as GraphJob, output, signal)
  } catch (thrown) {
    return failedUnexpectedly(thrown)
  }
}

function failedUnexpectedly(thrown: unknown): GraphJobEnd {
  return { kind: 'failed', ...describeError(thrown), retryable: false, state: undefined }
}

/** Schema readers by graph, created on first use. */
function schemaReaders(message: OpenHost, importFor: ImportFor): (graph_id: string) => SchemaReader {
  const made = new Map<string, SchemaReader>()
  return (graph_id) => {
    const reader = made.get(graph_id) ?? createSchemaReader(importFor, fileOf(message, graph_id))
    made.set(graph_id, reader)
    return reader
  }
}

function fileOf({ graphs }: OpenHost, graph_id: string): string {
  return graphs.find((entry) => entry.graph_id === graph_id)?.file ?? ''
}

function allOf(failures: readonly LoadFailure[]): string {
  return failures.map(({ message }) => message).join('\n')
}

/** The path of the module of `store.index.embed`; empty if there is none. */
function embedFile({ store_index: index }: OpenHost): string {
  return String(index?.['embed'] ?? '').replace(/:[^:]*$/, '')
}

/** Reports each file to the server only once. Files of one turn of the event loop are reported together. */
function createFileReport(channel: Channel<FromHost>): { add(file: string): void; flush(): void } {
  const reported = new Set<string>()
  let files: string[] = []

  function flush(): void {
    if (files.length > 0) channel.send({ type: 'loaded', files })
    files = []
  }

  return {
    flush,
    add(file) {
      if (reported.has(file)) return
      reported.add(file)
      if (files.push(file) === 1) setImmediate(flush)
      if (files.length === MAX_LOADED_FILES) flush()
    },
  }
}

function stateParts(state: GraphState | undefined): string[] {
  return state === undefined ? [] : [state.values_json, state.rest_json]
}

function stateHead(state: GraphState | undefined): StateHead | null {
  return state === undefined ? null : { next: state.next, interrupts: state.interrupts }
}

function sendEnd(channel: Channel<FromHost>, id: number, all: GraphJobEnd): void {
  const { state, nodes = all.nodes ?? 0, ...end } = isTooLarge(all.state) ? TOO_LARGE : all
  const about = { type: 'end', id, state: stateHead(state), nodes } as const
  if (end.kind !== 'done') {
    const shown = end.kind === 'failed' ? { ...end, message: cut(end.message) } : end
    channel.send({ ...about, end: shown, values: 'none' }, stateParts(state))
    return
  }
  const { values } = end
  const kind = values === null ? 'none' : values === state?.values_json ? 'state' : 'own'
  const own = kind === 'own' && values !== null ? [values] : []
  channel.send({ ...about, end: { kind: 'done' }, values: kind }, [...stateParts(state), ...own])
}

/** Maximum bytes of a thread's interrupts as JSON, which are in the head of a frame. */
const MAX_INTERRUPTS = 512 << 10
const TOO_LARGE_MESSAGE = `The interrupts of a thread may have at most ${MAX_INTERRUPTS} bytes of JSON.`
const TOO_LARGE: GraphJobEnd = {
  kind: 'failed',
  error: 'ValueError',
  message: TOO_LARGE_MESSAGE,
  retryable: false,
  state: undefined,
}

function isTooLarge(state: GraphState | undefined): boolean {
  return state !== undefined && Buffer.byteLength(JSON.stringify(state.interrupts)) > MAX_INTERRUPTS
}

function cut(message: string): string {
  return message.slice(0, MAX_MESSAGE_CHARS)
}

async function sendAnswer(
  channel: Channel<FromHost>,
  deps: CallDeps,
  { id, tenant }: Extract<ToHost, { type: 'call' }>,
  text: Buffer,
): Promise<void> {
  try {
    const call = JSON.parse(text.toString('utf8')) as HostCall
    const { body, state, next } = await answerCall(deps, tenant, call)
    if (isTooLarge(state)) throw new AppError('body_too_large', { message: TOO_LARGE_MESSAGE })
    const head = { type: 'answer', id, state: stateHead(state), ...(next !== undefined && { next }) } as const
    channel.send(head, [body, ...stateParts(state)])
  } catch (thrown) {
    const error = refusal(thrown)
    const broken = error instanceof GraphLoadError && ({ broken: true } as const)
    channel.send({ type: 'refused', id, code: error.code, message: cut(error.message), ...broken })
  }
}

/**
 * Converts an error of a call to a refusal. Errors that LangGraph throws during a call count as errors in its
 * arguments.
 */
function refusal(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  return new AppError('invalid_request', { message: describeError(thrown).message })
}
