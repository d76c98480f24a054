import { spawn } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { AppError } from '../../base/errors.ts'
import type { Confine } from '../../base/node/confined-command.ts'
import { findProgram } from '../isolation/find-program.ts'

/** How dependencies are installed. */
export interface InstallOptions {
  /** The variables of the package manager, and no others: builds see no secrets (P-18). */
  env: Readonly<Record<string, string>>
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

/** The first entry whose `file` exists beside langgraph.json is used (P-20). */
const MANAGERS: readonly PackageManager[] = [
  { file: 'package-lock.json', command: 'npm', args: ['ci', '--no-audit', '--no-fund'] },
  { file: 'pnpm-lock.yaml', command: 'pnpm', args: ['install', '--frozen-lockfile'] },
  { file: 'yarn.lock', command: 'yarn', args: ['install', '--frozen-lockfile'] },
  { file: 'package.json', command: 'npm', args: ['install', '--no-audit', '--no-fund'] },
]
const WARNING =
  'Install scripts of packages are not run, since this server has no sandbox for builds; packages that compile something do not work.'

/**
 * Installs the dependencies of the Node project in `dir`, into it.
 * @throws AppError build_failed naming the package manager; the signal's reason on abort
 */
export async function installDependencies(dir: string, options: InstallOptions): Promise<void> {
  const found = await findManager(dir)
  if (found === undefined) return options.log('There is no package.json: nothing is installed.')
  const { confine } = options
  const manager = confine ? found : { ...found, args: [...found.args, '--ignore-scripts'] }
  options.log(`${manager.command} ${manager.args.join(' ')}`)
  if (confine === undefined) options.log(WARNING)
  await run(dir, manager, options)
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
  manager: PackageManager,
  { env, timeout_ms, log, signal, confine, record }: InstallOptions,
): Promise<void> {
  signal.throwIfAborted()
  const { command, args, file } = manager
  const missing = `The project has a ${file}, and ${command} is not installed on this server.`
  if ((await findProgram(command, env)) === undefined) throw failed(missing)
  const plain = { file: command, args, cwd: dir, env, reach: [] }
  const start = confine?.(plain) ?? plain
  // A group of its own, so that the children of the package manager end with it.
  const child = spawn(start.file, start.args, {
    ...{ cwd: start.cwd, env: start.env, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<string | number>((resolve, reject) => {
    child.once('error', () => reject(failed(`${command} cannot be started.`)))
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
    if (end !== 0)
      throw failed(`${command} ${args[0]} ended with ${typeof end === 'number' ? `code ${end}` : end}.`)
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
