import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Duplex, Readable } from 'node:stream'
import type { Logger } from '../base/log.ts'
import { type Channel, type Frame, openChannel } from './channel.ts'
import type { FromHost, OpenMessage, ToHost } from './messages.ts'

/** How a process that runs a user's code is started. */
export interface HostLaunch<Open extends object = OpenMessage> {
  /** What it is, for logs and records. Default `graph-host`. */
  kind?: string
  /** The Node that runs it. */
  nodePath: string
  /** The host's composition root. */
  entry: string
  cwd: string
  env: Readonly<Record<string, string>>
  open: Open
  logger: Logger
  /** Records the child so that the next start can end it (D-4); answers what removes the record. */
  record: (name: string, pid: number) => Promise<() => Promise<void>>
}

/** How a host process ended. */
export interface HostExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** The last of what it wrote to stderr. */
  stderr: string
}

/** A graph host's process and its channel. */
export interface HostProcess<Out extends object = ToHost> {
  readonly pid: number
  readonly channel: Channel<Out>
  /** Resolves when the process is gone. Never rejects. */
  readonly exited: Promise<HostExit>
  kill(): void
  /** Hears each line that it writes to stderr from now on. */
  onStderr: (listener: (line: string) => void) => void
}

const STDERR_KEPT = 4_000
const LINE_KEPT = 4_000

/** Starts a host and sends it its first message; `onFrame` gets what it says, in order, until it is gone. */
export function startHostProcess<In extends object = FromHost, Out extends object = ToHost>(
  launch: HostLaunch<Out & { type: 'open' }>,
  onFrame: (frame: Frame<In>) => void,
): HostProcess<Out> {
  const { logger, kind = 'graph-host' } = launch
  const child = spawn(launch.nodePath, [...FLAGS, launch.entry], {
    cwd: launch.cwd,
    env: launch.env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const log = logger.child({ [kind.replace('-', '_')]: child.pid })
  let stderr = ''
  const listeners: ((line: string) => void)[] = []
  eachLine(child.stdout, (line) => log.info({ text: line }, 'graph host wrote'))
  eachLine(child.stderr, (line) => {
    stderr = `${stderr}${line}\n`.slice(-STDERR_KEPT)
    for (const listener of listeners) listener(line)
    if (!INSPECTOR.test(line)) log.warn({ text: line }, 'graph host wrote to stderr')
  })
  const gone = childGone(child)
  const forget = child.pid === undefined ? undefined : launch.record(kind, child.pid)
  const exited = gone.then(async ({ code, signal }) => {
    const remove = await forget?.catch(() => undefined)
    await remove?.().catch(() => undefined)
    return { code, signal, stderr: stderr.trim() }
  })
  const channel = openChannel<In, Out>(child.stdio[3] as Duplex, onFrame)
  channel.send(launch.open)
  return {
    pid: child.pid ?? 0,
    channel,
    exited,
    kill: () => void child.kill('SIGKILL'),
    onStderr: (listener) => void listeners.push(listener),
  }
}

/**
 * The host runs node:sqlite and, from a source tree, TypeScript: both would warn. Its inspector, opened only when it is
 * held up, takes any free port.
 */
const FLAGS = ['--disable-warning=ExperimentalWarning', '--inspect-port=127.0.0.1:0']

/** What Node's inspector says of itself. */
const INSPECTOR = /^Debugger |^For help, see: https:\/\/nodejs/

/** What any process needs; the least that user code may expect to be there. */
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
]

/** Where packages are that a graph's own folder does not have: for `require`; `import` is seen to by `prepareLoader`. */
export const OWN_PACKAGES = createRequire(import.meta.url)
  .resolve('@langchain/langgraph/package.json')
  .replace(/(node_modules)(?!.*node_modules).*/s, '$1')

/**
 * The environment of a host (D-42): `env` of langgraph.json and the least of the server's own. LangChain's callbacks
 * must run in line: in the background they lose tokens (measured there), and no setting may bring that back.
 */
export function hostEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    MALLOC_ARENA_MAX: '2',
    NODE_PATH: OWN_PACKAGES,
    ...Object.fromEntries(passed),
    ...env,
    LANGCHAIN_CALLBACKS_BACKGROUND: 'false',
  }
}

function childGone(child: ChildProcess): Promise<Omit<HostExit, 'stderr'>> {
  return new Promise((resolve) => {
    // 'close' comes after the last byte of every pipe: what the host said in its last moment is heard first.
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
