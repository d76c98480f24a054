import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../../base/log.ts'
import type { LostError } from '../../runs/execute/graph-host.ts'
import { UMASK_VARIABLE, umaskArguments } from '../../base/files/umask.ts'
import type { Confine, ConfinedCommand, ProcessCommand } from '../../base/node/confined-command.ts'
import { eachLine } from '../../base/streams/bounded-lines.ts'
import type { JsonObject } from '../../schema/json.ts'
import { exitInside, pidInside } from './confined-process.ts'
import { type Channel, type Frame, FROM_HOST, openChannel } from './channel.ts'
import { assertHead, type HeadChecks } from './heads.ts'
import type { FindHeldUp } from './inspector/inspector.ts'
import type { FromHost, OpenHost, ToHost } from './messages.ts'

/** The program that a process executes, and its arguments. */
export interface HostCommand {
  file: string
  args: readonly string[]
  /** Error message for the user when the program does not exist. */
  missing?: string
}

/** The command that runs an entry file in Node; by default with the executable of this process. */
export function nodeCommand(entry: string | URL, file: string = process.execPath): HostCommand {
  return { file, args: [...FLAGS, entry instanceof URL ? fileURLToPath(entry) : entry] }
}

export interface HostLaunch<Open extends object = OpenHost> {
  /** Kind of process, for logs and records. Default `graph-host`. */
  kind?: string
  command: HostCommand
  cwd: string
  env: Readonly<Record<string, string>>
  open: Open
  logger: Logger
  /** Receives each line that the process prints. Default: the server's log. */
  printed?: PrintedLines | undefined
  /** Receives notes about start and end of the process. */
  noted?: HostNotes | undefined
  /**
   * Masks values of secrets in messages of the process: the reasons for failed loads, and for the end of the process
   * (P-16).
   */
  mask?: ((text: string) => string) | undefined
  /** Records the child so that the next start can end it (D-4); resolves with a function that removes the record. */
  record: (name: string, pid: number) => Promise<() => Promise<void>>
  /** Finds the code that blocks the process. Default: by Node's inspector. */
  findHeldUp?: FindHeldUp
  /** Isolates the process. Default: no isolation. */
  confine?: Confine | undefined
  /** Sockets, and folders with sockets, to which the process connects, as in `ProcessCommand.reach`; default: none. */
  reach?: readonly string[]
  /** Folders in which the process makes sockets, as in `ProcessCommand.socketFolders`; default: none. */
  socketFolders?: readonly string[]
  /** Time limit for opening, in milliseconds. Default: for graphs, one minute and another one for each graph. */
  openMs?: number | undefined
  /** Called when the process has exited. */
  ended?: () => void
}

/** Receives lines that a process prints. `pid` is the id of the process that the server started. */
export type PrintedLines = (from: 'stdout' | 'stderr', line: string, pid: number | undefined) => void

/** Receives a sentence about a process, such as about its start or its end. */
export type HostNotes = (level: 'INFO' | 'WARNING', message: string) => void

/** Options of every kind of child process that runs a deployment's code. */
export interface ChildOptions {
  /** The server's environment; the process gets only the variables that every process needs (D-42). */
  environment: Readonly<Record<string, string | undefined>>
  logger: Logger
  /** Receives each line that the processes print. */
  printed?: PrintedLines | undefined
  /** Masks values of secrets in messages of the processes, as in HostLaunch. Default: none is masked. */
  mask?: HostLaunch['mask']
  record: HostLaunch['record']
  /** Isolates the processes. Default: no isolation. */
  confine?: Confine | undefined
}

export interface HostExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** The last lines of the stderr of the process. */
  stderr: string
  /** Whether the process was killed because its container used too much memory. */
  ranOutOfMemory: boolean
  /** Why the process could not be started. */
  unstarted?: string
  /** Why the server has ended the process: a message of it was invalid or above the bounds. */
  broken?: string
}

type ProcessEnd = Omit<HostExit, 'stderr' | 'ranOutOfMemory' | 'broken'>

export interface HostProcess<Out extends object = ToHost> {
  /** Process id of Node itself, also when Node runs in a sandbox or in a container. */
  readonly pid: number
  readonly channel: Channel<Out>
  /** Resolves when the process has exited. Never rejects. */
  readonly exited: Promise<HostExit>
  kill(): void
  signal(name: NodeJS.Signals): void
  /** Passes each further line of the process's stderr to the listener. */
  onStderr: (listener: (line: string) => void) => void
}

/** Programs that a process has started may keep its output open for this time after its end. */
const OUTPUT_MS = 1_000
/** After the end of its program, a container may exist for this time. */
const REMOVAL_MS = 30_000
const STDERR_KEPT = 4_000

/**
 * Starts a host and sends the first message to it. `onFrame` is called with the frames of the host, in order, until it
 * exits. A host that sends anything else than `heads` allows is ended.
 */
export function startHostProcess<In extends object = FromHost, Out extends object = ToHost>(
  launch: HostLaunch<Out & { type: 'open' }>,
  heads: HeadChecks,
  onFrame: (frame: Frame<In>) => void,
): HostProcess<Out> {
  const { logger, printed, kind = 'graph-host' } = launch
  const { container, user, started, ...command } = commandOf(launch)
  const isWrapped = launch.confine !== undefined && user === undefined
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    ...user,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const log = logger.child({ [kind.replace('-', '_')]: child.pid })
  let broken: string | undefined
  const output = readOutput(child, log, printed)
  const gone = childGone(child, launch.command).then((exit) => (isWrapped ? exitInside(exit) : exit))
  const forget = child.pid === undefined ? undefined : launch.record(kind, child.pid)
  endWhatIsLeft(child, started, log)
  const exited = gone.then(async (exit) => {
    launch.ended?.()
    const ranOutOfMemory = (await container?.remove(exit.signal)) ?? false
    await (await forget)?.()
    return {
      ...exit,
      ranOutOfMemory,
      stderr: output.lastLines().trim(),
      ...(broken !== undefined && { broken }),
    }
  })
  const kill = (): void => void (container === undefined ? child.kill('SIGKILL') : container.kill())
  const stream = command.channel ?? (child.stdio[3] as Duplex)
  const channel = openChannel<In, Out>(stream, checked(heads, onFrame), {
    boundsOf: () => FROM_HOST,
    broken(reason) {
      broken = `The ${kind.replace('-', ' ')} was ended because a message of it cannot be read: ${reason}.`
      kill()
    },
  })
  // A process without its channel cannot be reached any more. One that ends normally closes the channel just before, but
  // it takes a while to remove its container.
  const graceMs = container === undefined ? OUTPUT_MS : REMOVAL_MS
  stream.once('close', () => {
    setTimeout(() => {
      if (child.exitCode !== null || child.signalCode !== null) return
      broken ??= `The ${kind.replace('-', ' ')} was ended because it has closed its channel.`
      kill()
    }, graceMs).unref()
  })
  channel.send(launch.open)
  let inner: number | undefined
  const pid = (): number => {
    if (isWrapped && child.pid !== undefined)
      inner ??= container === undefined ? pidInside(child.pid) : container.pid()
    return inner ?? child.pid ?? 0
  }
  return {
    get pid() {
      return pid()
    },
    channel,
    exited,
    kill,
    signal: (name) => void (container === undefined ? process.kill(pid(), name) : container.signal(name)),
    onStderr: output.onStderr,
  }
}

/** Calls `onFrame` with frames whose heads have valid fields. @throws BrokenFrameError for another one */
function checked<In extends object>(
  heads: HeadChecks,
  onFrame: (frame: Frame<In>) => void,
): (frame: Frame<In>) => void {
  return (frame) => {
    assertHead(heads, frame.head as JsonObject)
    onFrame(frame)
  }
}

/** Passes on the lines that a process prints. */
function readOutput(
  child: ChildProcess,
  log: Logger,
  printed: PrintedLines | undefined,
): Pick<HostProcess, 'onStderr'> & { lastLines(): string } {
  let stderr = ''
  const listeners: ((line: string) => void)[] = []
  eachLine(child.stdout, (line) => {
    // `printed` masks secrets, but the server's log does not. So if there is a `printed`, the lines do not go to the
    // log (P-16).
    if (printed) printed('stdout', line, child.pid)
    else log.info({ text: line }, 'graph host wrote')
  })
  eachLine(child.stderr, (line) => {
    stderr = `${stderr}${line}\n`.slice(-STDERR_KEPT)
    for (const listener of listeners) listener(line)
    if (HELD_UP.test(line)) return
    if (printed) printed('stderr', line, child.pid)
    else log.warn({ text: line }, 'graph host wrote to stderr')
  })
  return { lastLines: () => stderr, onStderr: (listener) => void listeners.push(listener) }
}

/** The command of a process, including its isolation. */
function commandOf({
  command: { file, args },
  env: all,
  cwd,
  ...launch
}: HostLaunch<object>): ConfinedCommand {
  const { [UMASK_VARIABLE]: _umask, ...env } = all
  const { reach = [], socketFolders = [] } = launch
  const plain: ProcessCommand = {
    file,
    args: [...args, ...umaskArguments(all)],
    cwd,
    env,
    reach,
    socketFolders,
    hasChannel: true,
  }
  return launch.confine?.(plain) ?? plain
}

/**
 * Flags of a host. Without the first one, node:sqlite would print a warning, and so would TypeScript when Weir runs
 * from source files. The inspector, which is opened only when the host is blocked, uses any free port.
 */
const FLAGS = ['--disable-warning=ExperimentalWarning', '--inspect-port=127.0.0.1:0']

/** Lines on stderr that Node's inspector or the Python host prints about the running code of a blocked host. */
const HELD_UP =
  /^Debugger |^For help, see: https:\/\/nodejs|^weir-host: |^(Current thread|Thread) 0x|^ {2}File ".+", line \d+ in /

/** Variables of the server that are passed on: those that every process needs, and a few for user code. */
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
 * The folder in which `require` finds packages that a graph's own folder does not have. `prepareLoader` has the same
 * effect for `import`.
 */
export const OWN_PACKAGES = createRequire(import.meta.url)
  .resolve('@langchain/langgraph/package.json')
  .replace(/(node_modules)(?!.*node_modules).*/s, '$1')

/**
 * The environment of a host (D-42): `env` of langgraph.json and a few variables of the server. LangChain's callbacks
 * must run inline, because callbacks in the background lose tokens (measured); `env` cannot change this.
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

function childGone(child: ChildProcess, { file, missing }: HostCommand): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    // 'close' is emitted after all pipes have ended, so the last messages of the host have been read by then.
    child.once('close', (code, signal) => resolve({ code, signal }))
    child.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const unstarted = code === 'ENOENT' && missing !== undefined ? missing : `${file}: ${message}`
      if (child.pid === undefined) resolve({ code: null, signal: null, unstarted })
    })
  })
}

/**
 * After the exit of a process: ends the programs that it has left behind, if possible, and closes its output after
 * OUTPUT_MS. While its output is open, the process does not count as ended.
 */
function endWhatIsLeft(child: ChildProcess, started: ConfinedCommand['started'], logger: Logger): void {
  const end = child.pid === undefined ? undefined : started?.(child.pid)
  child.once('exit', () => {
    end?.().catch((error: unknown) => logger.warn({ err: error }, 'what a process has left was not ended'))
    setTimeout(() => {
      for (const stream of child.stdio) stream?.destroy()
    }, OUTPUT_MS).unref()
  })
}

/** Whether a host was killed from outside: then none of its jobs is the cause. */
export function isFromOutside({ signal, ranOutOfMemory: isFull, broken }: HostExit): boolean {
  if (isFull || broken !== undefined) return false
  return signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGINT'
}

const OUT_OF_MEMORY = /heap out of memory|Allocation failed/i

function ranOutOfMemory(exit: HostExit): boolean {
  return exit.ranOutOfMemory || OUT_OF_MEMORY.test(exit.stderr)
}

export function lostErrorOf(exit: HostExit): LostError {
  return ranOutOfMemory(exit) ? 'OutOfMemory' : 'HostLost'
}

/** Why a host has ended, for its runs and for the log. */
export function describeExit(exit: HostExit): string {
  const { code, signal, unstarted, broken } = exit
  if (unstarted !== undefined) return unstarted
  if (broken !== undefined) return broken
  if (ranOutOfMemory(exit)) return 'The graph host ran out of memory.'
  return `The graph host ended unexpectedly (${signal ?? `code ${code}`}).`
}
