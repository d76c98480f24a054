import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '../../../base/errors.ts'
import { syncDirectory } from '../../../base/files/sync-directory.ts'
import type { Logger } from '../../../base/log.ts'
import { endLeftovers, recordChild } from '../../child-processes.ts'
import { DEFAULT_MEMORY, type EngineMemory } from './engine-config.ts'
import type { ChildAnswer, OpenEngine } from './messages.ts'

export interface EmbeddedOptions {
  /** DATA_DIR, which contains the engine's data in the folder `clickhouse`. */
  readonly dataDir: string
  readonly logger: Logger
  /** Path of the Node program (24 or later) that runs the child; default: the one that runs this process. */
  readonly nodePath?: string
  /** Default: any free port. A restart passes the previous port, so that the URL stays the same. */
  readonly port?: number
  /** Default: a new random one. */
  readonly password?: string
  readonly memory?: EngineMemory
  /** An abort during the start ends the child, and rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** A running embedded engine. */
export interface EmbeddedClickHouse {
  readonly url: string
  readonly username: string
  readonly password: string
  /** Its work folder, in which it reads files with the rows of inserts. */
  readonly rowsFolder: string
  readonly pid: number
  /** Resolves when the child has ended, for any reason. Never rejects. */
  readonly exited: Promise<ChildExit>
  /** Waits up to 10 s for running statements, ends the child, and resolves when the child has exited. */
  stop(): Promise<void>
}

/** The end of a child process. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const STOP_MS = 12_000
const STDERR_KEPT = 4_000
/** Text on stderr by which the engine reports that another process uses the folder. */
const IN_USE = /another server instance|cannot lock file/i
/**
 * With these characters in a path, the engine takes the path for a pattern. Inserts from such a path would be lost
 * without an error.
 */
const PATTERN_CHARACTERS = /[*?{}[\]]|::/

/**
 * Starts chDB in a child process that serves ClickHouse's HTTP protocol on 127.0.0.1 (decision D-3). A child that an
 * ended server left running is ended first. Rejects with `config_invalid` when the engine is not installed, when
 * another server uses DATA_DIR, or when its path cannot be used; with `internal` otherwise.
 */
export async function startEmbeddedClickHouse(options: EmbeddedOptions): Promise<EmbeddedClickHouse> {
  const dataDir = resolve(options.dataDir)
  if (PATTERN_CHARACTERS.test(dataDir)) {
    throw invalid('DATA_DIR must not contain any of * ? { } [ ] or "::" when ClickHouse is embedded.')
  }
  await endLeftovers(dataDir, options.logger)
  options.signal?.throwIfAborted()
  const path = join(dataDir, 'clickhouse')
  const workDir = join(dataDir, 'clickhouse-work')
  await mkdir(workDir, { recursive: true })
  await mkdir(path, { recursive: true })
  await syncDirectory(dataDir)
  const password = options.password ?? randomBytes(24).toString('base64url')
  const child = forkChild(options.nodePath ?? process.execPath, workDir)
  const exited = childExit(child)
  const stderr = keepTail(child, options.logger)
  const forget = child.pid === undefined ? undefined : await recordChild(dataDir, 'clickhouse', child.pid)
  const forgotten = exited.then(forget)
  const order = {
    type: 'open',
    path,
    port: options.port ?? 0,
    password,
    memory: options.memory ?? DEFAULT_MEMORY,
  }
  const answer = await firstAnswer(child, order as OpenEngine, exited, options.signal)
  if (options.signal?.aborted) {
    child.kill('SIGKILL')
    await forgotten
    throw options.signal.reason
  }
  if (answer.type === 'failed') {
    await forgotten
    throw openError(path, answer.installed, [answer.message, stderr()].filter(Boolean).join('\n'))
  }
  return {
    url: `http://127.0.0.1:${answer.port}`,
    username: 'default',
    password,
    rowsFolder: workDir,
    pid: child.pid ?? 0,
    exited,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      if (child.connected) child.send({ type: 'stop' }, () => undefined)
      await forgotten
      clearTimeout(timer)
    },
  }
}

/**
 * The child's environment. The thread pool has one thread for each session, and some for file work. The allocator
 * setting returns freed request buffers to the system; otherwise they stay in the C library (50 MB after a burst,
 * measured).
 */
const ENVIRONMENT = {
  UV_THREADPOOL_SIZE: '16',
  TZ: 'UTC',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

function forkChild(nodePath: string, workDir: string): ChildProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fork(new URL(`./child.${extension}`, import.meta.url), [], {
    cwd: workDir,
    execPath: nodePath,
    execArgv: ['--max-old-space-size=256', '--expose-gc'],
    // The child does not get the server's environment, which contains secrets.
    env: { ...ENVIRONMENT, ...compileCache() },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

/**
 * Makes the child use the compile cache of this process, which saves half of the CPU time of its start.
 * NODE_COMPILE_CACHE contains one folder for each version of Node.
 */
function compileCache(): { NODE_COMPILE_CACHE?: string } {
  const inUse = getCompileCacheDir()
  return inUse === undefined ? {} : { NODE_COMPILE_CACHE: dirname(inUse) }
}

function childExit(child: ChildProcess): Promise<ChildExit> {
  return new Promise((resolvePromise) => {
    child.once('exit', (code, signal) => resolvePromise({ code, signal }))
    child.once('error', () => {
      if (child.pid === undefined) resolvePromise({ code: null, signal: null })
    })
  })
}

function keepTail(child: ChildProcess, logger: Logger): () => string {
  let tail = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-STDERR_KEPT)
    if (text.trim() === '') return
    logger.warn({ text: text.trim().slice(0, STDERR_KEPT) }, 'embedded ClickHouse wrote to stderr')
  })
  return () => tail.trim()
}

async function firstAnswer(
  child: ChildProcess,
  order: OpenEngine,
  exited: Promise<ChildExit>,
  signal: AbortSignal | undefined,
): Promise<ChildAnswer> {
  const kill = () => void child.kill('SIGKILL')
  signal?.addEventListener('abort', kill, { once: true })
  // The listener is not called for a signal that has aborted before.
  if (signal?.aborted) kill()
  try {
    child.on('error', () => undefined)
    child.send(order, () => undefined)
    const answered = once(child, 'message').then(([message]) => message as ChildAnswer)
    const ended = exited.then(({ code, signal: by }): ChildAnswer => {
      return {
        type: 'failed',
        installed: true,
        message: `The child process ended (${by ?? `code ${code}`}).`,
      }
    })
    return await Promise.race([answered, ended])
  } finally {
    signal?.removeEventListener('abort', kill)
  }
}

function openError(path: string, installed: boolean, text: string): AppError {
  if (!installed) {
    return invalid(
      `The embedded ClickHouse engine (package chdb) is not installed for ${process.platform}-${process.arch}. ` +
        'Set CLICKHOUSE_URL to a ClickHouse server, or install again with optional dependencies.',
      text,
    )
  }
  if (IN_USE.test(text)) {
    return invalid('Another process has DATA_DIR open: stop it, or choose another DATA_DIR.', text)
  }
  return new AppError('internal', {
    message: `The embedded ClickHouse engine did not start on ${path}: ${text}\nIf its files are damaged, restore the folder from a backup. To continue without its data, move the folder away and start once with --accept-empty-store.`,
    cause: text,
  })
}

function invalid(message: string, cause?: string): AppError {
  return new AppError('config_invalid', { message, cause })
}
