import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Duplex, Readable } from 'node:stream'
import type { Logger } from '../../base/log.ts'
import { UMASK_VARIABLE, umaskArguments } from '../../base/files/umask.ts'
import type { Confine, ProcessCommand } from '../../base/node/confined-command.ts'
import { exitInside, pidInside } from './confined-process.ts'
import { type Channel, type Frame, openChannel } from './channel.ts'
import type { FromHost, OpenHost, ToHost } from './messages.ts'

/** How to start a process that runs a user's code. */
export interface HostLaunch<Open extends object = OpenHost> {
  /** Kind of process, for logs and records. Default `graph-host`. */
  kind?: string
  /** The Node that runs it. */
  nodePath: string
  /** The host's composition root. */
  entry: string
  cwd: string
  env: Readonly<Record<string, string>>
  open: Open
  logger: Logger
  /** Receives each line that it prints. */
  printed?: PrintedLines | undefined
  /** Receives its start and its end. */
  noted?: HostNotes | undefined
  /** Records the child so that the next start can end it (D-4); resolves with a function that removes the record. */
  record: (name: string, pid: number) => Promise<() => Promise<void>>
  /** Isolates it; default: it runs as the server does. */
  confine?: Confine | undefined
  /** What it needs of `ProcessCommand.reach`. */
  reach?: readonly string[]
  /** Called when it has exited. */
  ended?: () => void
}

/** Receives lines that a process prints. */
export type PrintedLines = (from: 'stdout' | 'stderr', line: string) => void

/** Receives a sentence about a process, such as its start or its death. */
export type HostNotes = (level: 'INFO' | 'WARNING', message: string) => void

/** Options of every kind of child process that runs a deployment's code. */
export interface ChildOptions {
  /** The server's environment; the process gets only the variables that every process needs (D-42). */
  environment: Readonly<Record<string, string | undefined>>
  logger: Logger
  /** Receives each line that the processes print. */
  printed?: PrintedLines | undefined
  record: HostLaunch['record']
  /** Isolates the processes; default: they run as the server does. */
  confine?: Confine | undefined
}

/** How a host process ended. */
export interface HostExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** The last lines of its stderr. */
  stderr: string
}

/** A graph host's process and its channel. */
export interface HostProcess<Out extends object = ToHost> {
  /** Of Node itself, also when it runs in a sandbox. */
  readonly pid: number
  readonly channel: Channel<Out>
  /** Resolves when the process has exited. Never rejects. */
  readonly exited: Promise<HostExit>
  kill(): void
  /** Passes each line that it writes to stderr from now on. */
  onStderr: (listener: (line: string) => void) => void
}

const STDERR_KEPT = 4_000
const LINE_KEPT = 4_000

/** Starts a host and sends it its first message; `onFrame` is called with its frames, in order, until it exits. */
export function startHostProcess<In extends object = FromHost, Out extends object = ToHost>(
  launch: HostLaunch<Out & { type: 'open' }>,
  onFrame: (frame: Frame<In>) => void,
): HostProcess<Out> {
  const { logger, printed, kind = 'graph-host' } = launch
  const { [UMASK_VARIABLE]: _umask, ...env } = launch.env
  const plain: ProcessCommand = {
    file: launch.nodePath,
    args: [...FLAGS, launch.entry, ...umaskArguments(launch.env)],
    ...{ cwd: launch.cwd, env, reach: launch.reach ?? [] },
  }
  const command = launch.confine?.(plain) ?? plain
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const log = logger.child({ [kind.replace('-', '_')]: child.pid })
  let stderr = ''
  const listeners: ((line: string) => void)[] = []
  eachLine(child.stdout, (line) => {
    printed?.('stdout', line)
    log.info({ text: line }, 'graph host wrote')
  })
  eachLine(child.stderr, (line) => {
    stderr = `${stderr}${line}\n`.slice(-STDERR_KEPT)
    for (const listener of listeners) listener(line)
    if (INSPECTOR.test(line)) return
    printed?.('stderr', line)
    log.warn({ text: line }, 'graph host wrote to stderr')
  })
  const gone = childGone(child).then((exit) => (launch.confine ? exitInside(exit) : exit))
  const forget = child.pid === undefined ? undefined : launch.record(kind, child.pid)
  const exited = gone.then(async ({ code, signal }) => {
    launch.ended?.()
    const remove = await forget?.catch(() => undefined)
    await remove?.().catch(() => undefined)
    return { code, signal, stderr: stderr.trim() }
  })
  const channel = openChannel<In, Out>(child.stdio[3] as Duplex, onFrame)
  channel.send(launch.open)
  let inner: number | undefined
  return {
    get pid() {
      if (launch.confine && child.pid !== undefined) inner ??= pidInside(child.pid)
      return inner ?? child.pid ?? 0
    },
    channel,
    exited,
    kill: () => void child.kill('SIGKILL'),
    onStderr: (listener) => void listeners.push(listener),
  }
}

/**
 * The host runs node:sqlite and, from a source tree, TypeScript: both would print warnings. Its inspector, opened only
 * when it is blocked, uses any free port.
 */
const FLAGS = ['--disable-warning=ExperimentalWarning', '--inspect-port=127.0.0.1:0']

/** Lines that Node's inspector prints. */
const INSPECTOR = /^Debugger |^For help, see: https:\/\/nodejs/

/** Variables that every process needs, and few others for user code. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'SystemRoot',
  'NODE_EXTRA_CA_CERTS',
  'NODE_COMPILE_CACHE',
  'NODE_DISABLE_COMPILE_CACHE',
]

/**
 * The folder of packages that a graph's own folder lacks, for `require`; `prepareLoader` does the same for `import`.
 */
export const OWN_PACKAGES = createRequire(import.meta.url)
  .resolve('@langchain/langgraph/package.json')
  .replace(/(node_modules)(?!.*node_modules).*/s, '$1')

/**
 * The environment of a host (D-42): `env` of langgraph.json and a few variables of the server. LangChain's callbacks
 * must run inline: in the background they lose tokens (measured), and no setting may change that.
 */
export function hostEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const umask = environment[UMASK_VARIABLE]
  return {
    MALLOC_ARENA_MAX: '2',
    NODE_PATH: OWN_PACKAGES,
    ...Object.fromEntries(passed),
    ...env,
    LANGCHAIN_CALLBACKS_BACKGROUND: 'false',
    ...(umask !== undefined && { [UMASK_VARIABLE]: umask }),
  }
}

function childGone(child: ChildProcess): Promise<Omit<HostExit, 'stderr'>> {
  return new Promise((resolve) => {
    // 'close' comes after the last byte of every pipe, so that the host's last messages are read first.
    child.once('close', (code, signal) => resolve({ code, signal }))
    child.once('error', () => {
      if (child.pid === undefined) resolve({ code: null, signal: null })
    })
  })
}

function eachLine(stream: Readable | null, each: (line: string) => void): void {
  let held = ''
  stream?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (held + text).split('\n')
    held = (lines.pop() ?? '').slice(-LINE_KEPT)
    for (const line of lines) if (line.trim() !== '') each(line.slice(0, LINE_KEPT))
  })
}
