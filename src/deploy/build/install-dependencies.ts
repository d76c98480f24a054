import { spawn } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { AppError } from '../../base/errors.ts'
import type { Confine } from '../../base/node/confined-command.ts'
import { type BuildCommands, NO_COMMANDS } from '../model.ts'
import { findProgram } from '../isolation/find-program.ts'

/** How dependencies are installed. */
export interface InstallOptions {
  /** Commands of the deployment; default: none. */
  commands?: BuildCommands
  /** The variables of the package manager, and no others: builds see no secrets (P-18). */
  env: Readonly<Record<string, string>>
  /** For all commands together. */
  timeout_ms: number
  /** Receives each line that the package manager prints. */
  log(line: string): void
  signal: AbortSignal
  /** Runs it in a sandbox, with the install scripts of packages; undefined: without both. */
  confine?: Confine | undefined
  /** Notes the process, so that the next start can end it; resolves with what removes the note. */
  record(name: string, pid: number): Promise<() => Promise<void>>
}

interface PackageManager {
  file: string
  command: string
  args: readonly string[]
}

/** A program that is run, and what it is called in messages. */
interface Step {
  name: string
  command: string
  args: readonly string[]
}

/** The first entry whose `file` exists beside langgraph.json is used (P-20). */
const MANAGERS: readonly PackageManager[] = [
  { file: 'package-lock.json', command: 'npm', args: ['ci', '--no-audit', '--no-fund'] },
  { file: 'pnpm-lock.yaml', command: 'pnpm', args: ['install', '--frozen-lockfile'] },
  { file: 'yarn.lock', command: 'yarn', args: ['install', '--frozen-lockfile'] },
  { file: 'package.json', command: 'npm', args: ['install', '--no-audit', '--no-fund'] },
]
const WARNING =
  'Install scripts of packages are not run, since this server has no sandbox for builds; packages that compile something do not work.'

const UNCONFINED = 'This server has no sandbox for builds: the command can read what the server can read.'

/**
 * Installs the dependencies of the Node project in `dir`, into it, and runs its build command (P-20).
 * @throws AppError build_failed naming the package manager or the command; the signal's reason on abort
 */
export async function installDependencies(dir: string, options: InstallOptions): Promise<void> {
  const { log, confine, timeout_ms, commands: { install_command, build_command } = NO_COMMANDS } = options
  const ends = performance.now() + timeout_ms
  if (confine === undefined && (install_command ?? build_command) !== null) log(UNCONFINED)
  const steps = [
    install_command === null ? await managerStep(dir, options) : ofShell('install_command', install_command),
    build_command === null ? undefined : ofShell('build_command', build_command),
  ]
  for (const step of steps) {
    if (step === undefined) continue
    log(
      step.name.endsWith('_command')
        ? `${step.name}: ${step.args[1]}`
        : `${step.command} ${step.args.join(' ')}`,
    )
    await run(dir, step, { ...options, timeout_ms: Math.max(1, ends - performance.now()) })
  }
}

function ofShell(name: keyof BuildCommands, text: string): Step {
  return { name, command: 'sh', args: ['-c', text] }
}

/** The package manager of the project; undefined when there is nothing to install. */
async function managerStep(dir: string, { env, log, confine }: InstallOptions): Promise<Step | undefined> {
  const manager = await findManager(dir)
  if (manager === undefined) {
    log('There is no package.json: nothing is installed.')
    return undefined
  }
  const { file, command, args } = manager
  const missing = `The project has a ${file}, and ${command} is not installed on this server.`
  if ((await findProgram(command, env)) === undefined) throw failed(missing)
  const name = `${command} ${args[0]}`
  if (confine !== undefined) return { name, command, args }
  log(WARNING)
  return { name, command, args: [...args, '--ignore-scripts'] }
}

async function findManager(dir: string): Promise<PackageManager | undefined> {
  for (const manager of MANAGERS) {
    const isThere = await access(join(dir, manager.file)).then(
      () => true,
      () => false,
    )
    if (isThere) return manager
  }
  return undefined
}

async function run(
  dir: string,
  { name, command, args }: Step,
  { env, timeout_ms, log, signal, confine, record }: InstallOptions,
): Promise<void> {
  signal.throwIfAborted()
  const plain = { file: command, args, cwd: dir, env, reach: [] }
  const start = confine?.(plain) ?? plain
  // A group of its own, so that the children of the package manager end with it.
  const child = spawn(start.file, start.args, {
    ...{ cwd: start.cwd, env: start.env, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<string | number>((resolve, reject) => {
    child.once('error', () => reject(failed(`${name} cannot be started.`)))
    child.once('close', (code, killedBy) => resolve(killedBy ?? code ?? 1))
  })
  const { pid } = child
  const forget = pid === undefined ? undefined : record(`build-${command}`, pid)
  const kill = (): void => killGroup(pid)
  const timer = setTimeout(kill, timeout_ms)
  signal.addEventListener('abort', kill)
  for (const output of [child.stdout, child.stderr]) forwardLines(output, log)
  try {
    const end = await ended
    signal.throwIfAborted()
    if (end !== 0) throw failed(`${name} ended with ${typeof end === 'number' ? `code ${end}` : end}.`)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', kill)
    await (await forget)?.()
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

function forwardLines(output: Readable, log: (line: string) => void): void {
  createInterface({ input: output }).on('line', (line) => {
    if (line.trim() !== '') log(line)
  })
}

function failed(message: string): AppError {
  return new AppError('build_failed', { message })
}
