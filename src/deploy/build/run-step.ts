import { spawn } from 'node:child_process'
import { AppError } from '../../base/errors.ts'
import type { Confine, ConfinedCommand } from '../../base/node/confined-command.ts'
import { eachLine } from '../../base/streams/bounded-lines.ts'

export interface BuildStep {
  /** Name of the step in messages. */
  name: string
  /** The line of the build log that announces the step. */
  title: string
  command: string
  args: readonly string[]
  /** Variables in addition to those of all steps. */
  env?: Readonly<Record<string, string>>
}

export interface StepOptions {
  /** Only the variables of package managers, because builds get no secrets (P-18). */
  env: Readonly<Record<string, string>>
  timeout_ms: number
  /** The time limit that the error message contains; default: `timeout_ms`. */
  limit_ms?: number
  /** Receives each line that the program prints. */
  log(line: string): void
  signal: AbortSignal
  /** Runs the program in a sandbox; undefined if there is no sandbox. */
  confine?: Confine | undefined
  /** Records the process, so that the next start can end it; resolves with a function that removes the record. */
  record(name: string, pid: number): Promise<() => Promise<void>>
}

/** A program that a step has left running, outside of its process group, may keep the step's output open this long. */
const OUTPUT_MS = 1_000

/**
 * Runs a program in `dir` until it ends. @throws AppError build_failed when it fails or takes longer than `timeout_ms`;
 * the signal's reason on abort
 */
export async function runStep(
  dir: string,
  { name, title, command, args, env: ofStep }: BuildStep,
  { env, timeout_ms, limit_ms = timeout_ms, log, signal, confine, record }: StepOptions,
): Promise<void> {
  signal.throwIfAborted()
  log(title)
  const sockets = { reach: [], socketFolders: [], hasChannel: false }
  const plain = { file: command, args, cwd: dir, env: { ...env, ...ofStep }, ...sockets }
  const start: ConfinedCommand = confine?.(plain) ?? plain
  const { container } = start
  // A separate process group, so that the children of the program can be ended with it.
  const child = spawn(start.file, start.args, {
    cwd: start.cwd,
    env: start.env,
    detached: true,
    ...start.user,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<string | number>((resolve, reject) => {
    child.once('error', () => reject(buildFailed(`${name} cannot be started.`)))
    child.once('close', (code, killedBy) => resolve(killedBy ?? code ?? 1))
  })
  const { pid } = child
  const forget = pid === undefined ? undefined : record('build', pid)
  const kill = (): void => (container === undefined ? killGroup(pid) : container.kill())
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    kill()
  }, timeout_ms)
  signal.addEventListener('abort', kill)
  const outputs = [child.stdout, child.stderr]
  for (const output of outputs) eachLine(output, log)
  child.once('exit', () => {
    setTimeout(() => outputs.forEach((output) => output.destroy()), OUTPUT_MS).unref()
  })
  try {
    const end = await ended
    signal.throwIfAborted()
    if (isLate) throw buildFailed(`${name} was ended: a build may take ${limit_ms / 60_000} minutes.`)
    if (end !== 0) throw buildFailed(failureText(name, end))
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', kill)
    await container?.remove()
    await (await forget)?.()
  }
}

/**
 * Signals that end a program which had too little memory, and the exit codes by which shells and containers report
 * them.
 */
const OUT_OF_MEMORY = new Map<string | number, string>([
  ['SIGKILL', 'SIGKILL'],
  [128 + 9, 'SIGKILL'],
  ['SIGABRT', 'SIGABRT'],
  [128 + 6, 'SIGABRT'],
])

function failureText(name: string, end: string | number): string {
  const signal = OUT_OF_MEMORY.get(end)
  if (signal !== undefined)
    return `${name} was ended by ${signal}. Most often there was not enough memory: give the server more, or let the build do less.`
  return `${name} ended with ${typeof end === 'number' ? `code ${end}` : end}.`
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process group has already ended.
  }
}

/** The error of a failed build; the reason is for the project's author. */
export function buildFailed(message: string): AppError {
  return new AppError('build_failed', { message })
}
