import { childEntry } from '../../base/child-entry.ts'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readBoundedFile } from '../../base/files/bounded-file.ts'
import { isObject } from '../../schema/json.ts'
import type { GraphEntry } from '../project/deployment-file.ts'
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
} from './messages.ts'

export interface TypeSchemasOptions extends ChildOptions {
  /** Folder of the cache, with one file for each graph. The cache stays after the server has ended. */
  folder: string
  /** Time limit of the compiler for one graph. Default 60 s. */
  timeoutMs?: number
}

/** Schemas from TypeScript types, read in a separate process. */
export interface TypeSchemas {
  /**
   * JSON text of the schemas of a graph and its subgraphs, by namespace. `null` when they cannot be read; the reason is
   * then logged. Takes seconds for a new or changed file; otherwise the schemas are in the cache. Never rejects.
   */
  read(entry: Module): Promise<string>
  stop(): Promise<void>
}

type Module = Pick<GraphEntry, 'file' | 'export'>

interface Answer {
  text: string
  files: ReadFile[]
}

const TIMEOUT_MS = 60_000
/** Heap limit of the compiler. A project of usual size needs 300 to 500 MB. */
const MAX_HEAP_MB = 1_536
/** Pause before a file that could not be read is tried again. */
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
  readonly #failures = new Map<string, { at: number; hash: string }>()
  #living: HostProcess<ToTypeHost> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: TypeSchemasOptions) {
    this.#options = options
  }

  read(entry: Module): Promise<string> {
    if (!TYPESCRIPT.test(entry.file)) return Promise.resolve(NONE)
    const kept = join(this.#options.folder, `${nameOf(entry)}.json`)
    const found = this.#underWay.get(kept)
    if (found !== undefined) return found
    const reading = this.#read(entry, kept).finally(() => this.#underWay.delete(kept))
    this.#underWay.set(kept, reading)
    return reading
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#living?.kill()
    await this.#last
  }

  async #read(entry: Module, kept: string): Promise<string> {
    const found = await readKept(kept)
    if (found !== undefined) return found
    const hash = await hashOf(entry.file)
    const failure = this.#failures.get(kept)
    if (failure?.hash === hash && performance.now() - failure.at < FAILURE_PAUSE_MS) return NONE
    const answer = await this.#next(() => this.#compile(entry))
    const { logger } = this.#options
    if (typeof answer === 'string') {
      this.#failures.set(kept, { at: performance.now(), hash })
      if (!this.#stopped) logger.warn({ file: entry.file, reason: answer }, 'types of a graph cannot be read')
      return NONE
    }
    this.#failures.delete(kept)
    await keep(kept, answer).catch((error: unknown) =>
      logger.warn({ err: error }, 'schemas of a graph cannot be kept'),
    )
    return answer.text
  }

  /**
   * Runs `work` after all earlier work: only one compiler runs at a time, because it needs much CPU time and memory.
   */
  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** The schemas, or the reason of a failure as text. */
  async #compile(entry: Module): Promise<Answer | string> {
    if (this.#stopped) return 'The server is stopping.'
    const { promise, resolve } = Promise.withResolvers<Answer | string>()
    const launch = launchOf(this.#options, entry)
    const child = startHostProcess<FromTypeHost, ToTypeHost>(
      launch,
      FROM_TYPE_HOST_HEADS,
      ({ head, parts }) => {
        const [text] = parts
        if (head.type === 'failed') resolve(head.message)
        else if (text !== undefined && text.length > MAX_SCHEMA_BYTES)
          resolve(`more than ${MAX_SCHEMA_BYTES} bytes of schemas`)
        else resolve({ text: text?.toString('utf8') ?? NONE, files: head.files })
      },
    )
    this.#living = child
    const { timeoutMs = TIMEOUT_MS } = this.#options
    const timer = setTimeout(() => resolve(`The compiler took longer than ${timeoutMs / 1000} s.`), timeoutMs)
    void child.exited.then(({ signal, code, broken }) =>
      resolve(broken ?? `The compiler ended (${signal ?? `code ${code}`}).`),
    )
    const answer = await promise
    clearTimeout(timer)
    child.kill()
    await child.exited
    this.#living = undefined
    return answer
  }
}

function nameOf({ file, export: name }: Module): string {
  return createHash('sha256').update(`${file}:${name}`).digest('hex').slice(0, 32)
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

async function keep(path: string, answer: Answer): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.part`, JSON.stringify({ versions: versions(), ...answer }))
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
  entry: Module,
): HostLaunch<ToTypeHost> {
  return {
    kind: 'type-host',
    command: nodeCommand(childEntry('type-host')),
    cwd: dirname(entry.file),
    env: { ...hostEnvironment(environment, {}), NODE_OPTIONS: `--max-old-space-size=${MAX_HEAP_MB}` },
    open: { type: 'open', file: entry.file, export: entry.export, packages: OWN_PACKAGES },
    logger,
    printed,
    record,
    confine,
  }
}
