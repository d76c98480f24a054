import { childEntry } from '../../base/child-entry.ts'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createToldFailures } from '../../base/background/told-failures.ts'
import { readBoundedFile } from '../../base/files/bounded-file.ts'
import { isObject } from '../../schema/json.ts'
import {
  type ChildOptions,
  type HostLaunch,
  type HostProcess,
  hostEnvironment,
  nodeCommand,
  OWN_PACKAGES,
  startHostProcess,
} from '../pool/process.ts'
import {
  FROM_TYPE_HOST_HEADS,
  type FromTypeHost,
  MAX_SCHEMA_BYTES,
  type ReadFile,
  type ToTypeHost,
  type TypedGraph,
} from './messages.ts'

export interface TypeSchemasOptions extends ChildOptions {
  /** Folder of the cache, with one file for each graph. The cache stays after the server has ended. */
  folder: string
  /** Time limit of the compiler for one graph, and again for all others. Default 60 s. */
  timeoutMs?: number
  /** Pause before a file that could not be read is tried again. Default 60 s. */
  pauseMs?: number
}

/** Schemas from TypeScript types, read in a separate process. */
export interface TypeSchemas {
  /**
   * JSON text of the schemas of a graph and its subgraphs, by namespace. `null` when they cannot be read; the reason is
   * then logged. Takes seconds for a new or changed file; otherwise the schemas are in the cache. The graphs beside it
   * in its project are read after it, into the cache. Never rejects.
   */
  read(graph: TypedGraph, beside: readonly TypedGraph[]): Promise<string>
  stop(): Promise<void>
}

interface Schemas {
  /** JSON text of schemas by namespace. */
  text: string
  files: ReadFile[]
}

interface Failure {
  failed: string
}

const TIMEOUT_MS = 60_000
/** Heap limit of the compiler. A project of usual size needs 300 to 500 MB. */
const MAX_HEAP_MB = 1_536
const FAILURE_PAUSE_MS = 60_000
const TYPESCRIPT = /\.[cm]?tsx?$/
const NONE = 'null'

/** Makes a reader. It starts no process before the first call of `read`. */
export function createTypeSchemas(options: TypeSchemasOptions): TypeSchemas {
  return new TypeReader(options)
}

class TypeReader implements TypeSchemas {
  readonly #options: TypeSchemasOptions
  readonly #underWay = new Map<string, Promise<string>>()
  /** Files that could not be read, with their content then. `at` is infinite while one of them is tried again. */
  readonly #failures = new Map<string, { at: number; hash: string }>()
  readonly #told = createToldFailures()
  #living: HostProcess<ToTypeHost> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: TypeSchemasOptions) {
    this.#options = options
  }

  read(graph: TypedGraph, beside: readonly TypedGraph[]): Promise<string> {
    if (!TYPESCRIPT.test(graph.file)) return Promise.resolve(NONE)
    const kept = this.#pathOf(graph)
    const found = this.#underWay.get(kept)
    if (found !== undefined) return found
    const reading = this.#read(graph, beside).finally(() => this.#underWay.delete(kept))
    this.#underWay.set(kept, reading)
    return reading
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#living?.kill()
    await this.#last
  }

  #pathOf({ file, export: name }: TypedGraph): string {
    const hash = createHash('sha256').update(`${file}:${name}`).digest('hex')
    return join(this.#options.folder, `${hash.slice(0, 32)}.json`)
  }

  async #read(graph: TypedGraph, beside: readonly TypedGraph[]): Promise<string> {
    const path = this.#pathOf(graph)
    const found = await readKept(path)
    if (found !== undefined) return found
    const hash = await hashOf(graph.file)
    const failure = this.#failures.get(path)
    if (failure?.hash !== hash) return await this.#compileKept(graph, beside, hash)
    if (performance.now() - failure.at >= (this.#options.pauseMs ?? FAILURE_PAUSE_MS)) {
      this.#failures.set(path, { at: Infinity, hash })
      void this.#compileKept(graph, beside, hash)
    }
    return NONE
  }

  /** Compiles a graph, and keeps in mind whether that failed. Never rejects. */
  async #compileKept(graph: TypedGraph, beside: readonly TypedGraph[], hash: string): Promise<string> {
    const path = this.#pathOf(graph)
    const answer = await this.#compileNext(graph, beside)
    if ('text' in answer) {
      this.#failures.delete(path)
      return answer.text
    }
    this.#failures.set(path, { at: performance.now(), hash })
    if (!this.#stopped && this.#told.isDue(path, answer.failed))
      this.#options.logger.warn(
        { file: graph.file, reason: answer.failed },
        'types of a graph cannot be read',
      )
    return NONE
  }

  /**
   * Starts a compiler when the earlier one has ended, because it needs much CPU time and memory. Resolves as soon as
   * `graph` is read.
   */
  #compileNext(graph: TypedGraph, beside: readonly TypedGraph[]): Promise<Schemas | Failure> {
    const { promise, resolve } = Promise.withResolvers<Schemas | Failure>()
    const compile = async (): Promise<void> => {
      const kept = await readKept(this.#pathOf(graph))
      if (kept !== undefined) return resolve({ text: kept, files: [] })
      const keeping: Promise<void>[] = []
      const reason = await this.#compile([graph, ...(await this.#unread(beside, graph))], (one, schemas) => {
        keeping.push(this.#keep(one, schemas))
        if (one === graph) resolve(schemas)
      })
      resolve({ failed: reason })
      await Promise.all(keeping)
    }
    this.#last = this.#last.then(compile).catch((error: unknown) => resolve({ failed: String(error) }))
    return promise
  }

  /** The graphs whose schemas are not in the cache. */
  async #unread(graphs: readonly TypedGraph[], without: TypedGraph): Promise<TypedGraph[]> {
    const byPath = new Map(graphs.map((graph) => [this.#pathOf(graph), graph]))
    byPath.delete(this.#pathOf(without))
    for (const [path, { file }] of byPath)
      if (!TYPESCRIPT.test(file) || (await readKept(path)) !== undefined) byPath.delete(path)
    return [...byPath.values()]
  }

  /** Runs a compiler until it has read all graphs or failed. Resolves with the reason of the failure. */
  async #compile(
    graphs: TypedGraph[],
    received: (graph: TypedGraph, schemas: Schemas) => void,
  ): Promise<string> {
    if (this.#stopped) return 'The server is stopping.'
    const { promise, resolve } = Promise.withResolvers<string>()
    const { timeoutMs = TIMEOUT_MS } = this.#options
    const limit = setTimeout(() => resolve(`The compiler took longer than ${timeoutMs / 1000} s.`), timeoutMs)
    let count = 0
    const child = startHostProcess<FromTypeHost, ToTypeHost>(
      launchOf(this.#options, graphs),
      FROM_TYPE_HOST_HEADS,
      ({ head, parts: [text] }) => {
        if (head.type === 'failed') return resolve(head.message)
        const graph = graphs[head.graph]
        if (graph === undefined || text === undefined) return resolve('The compiler sent no schemas.')
        if (text.length > MAX_SCHEMA_BYTES) return resolve(`more than ${MAX_SCHEMA_BYTES} bytes of schemas`)
        received(graph, { text: text.toString('utf8'), files: head.files })
        limit.refresh()
        count++
        if (count === graphs.length) resolve('')
      },
    )
    this.#living = child
    void child.exited.then(({ signal, code, broken }) =>
      resolve(broken ?? `The compiler ended (${signal ?? `code ${code}`}).`),
    )
    const reason = await promise
    clearTimeout(limit)
    child.kill()
    await child.exited
    this.#living = undefined
    return reason
  }

  #keep(graph: TypedGraph, schemas: Schemas): Promise<void> {
    return keep(this.#pathOf(graph), schemas).catch((error: unknown) =>
      this.#options.logger.warn({ err: error }, 'schemas of a graph cannot be kept'),
    )
  }
}

/** Versions that the cache depends on. */
function versions(): string {
  const require = createRequire(import.meta.url)
  const versionOf = (name: string) => (require(`${name}/package.json`) as { version: string }).version
  return ['@langchain/langgraph-api', 'typescript'].map(versionOf).join(' ')
}

/** The cached schemas, if none of their source files has changed. */
async function readKept(path: string): Promise<string | undefined> {
  try {
    const kept: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (!isObject(kept) || kept['versions'] !== versions()) return undefined
    for (const [file, hash] of kept['files'] as ReadFile[])
      if ((await hashOf(file)) !== hash) return undefined
    return String(kept['text'])
  } catch {
    return undefined
  }
}

async function keep(path: string, schemas: Schemas): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.part`, JSON.stringify({ versions: versions(), ...schemas }))
  await rename(`${path}.part`, path)
}

/** Maximum bytes of a source file whose schemas are kept. */
const MAX_SOURCE_BYTES = 4 << 20

/** The hash of a file's content; empty for a file that is missing or no source file. */
async function hashOf(file: string): Promise<string> {
  const content = await readBoundedFile(file, { max_bytes: MAX_SOURCE_BYTES }).catch(() => undefined)
  return content === undefined ? '' : createHash('sha256').update(content).digest('hex')
}

function launchOf(
  { environment, logger, printed, record, confine }: TypeSchemasOptions,
  graphs: TypedGraph[],
): HostLaunch<ToTypeHost> {
  return {
    kind: 'type-host',
    command: nodeCommand(childEntry('type-host')),
    cwd: dirname(graphs[0]?.file ?? '.'),
    env: { ...hostEnvironment(environment, {}), NODE_OPTIONS: `--max-old-space-size=${MAX_HEAP_MB}` },
    open: { type: 'open', graphs, packages: OWN_PACKAGES },
    logger,
    printed,
    record,
    confine,
  }
}
