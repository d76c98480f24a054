import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ContainedProcess } from '../../base/node/confined-command.ts'
import { clientEnvironment } from './container-environment.ts'

export interface ContainerCommand {
  kind: 'podman' | 'docker'
  /** The program. */
  file: string
  /** Flags before the name of each command. */
  flags: readonly string[]
  /** The environment of the server. */
  env: Readonly<Record<string, string | undefined>>
}

const ASK_MS = 30_000
/** Number of tries to kill a container, because one that is being created cannot be killed yet. */
const KILL_TRIES = 25
const KILL_PAUSE_MS = 200
const PID_TRIES = 150

/** Runs one command of the runtime to its end. */
export function ask(command: ContainerCommand, args: readonly string[]): Promise<{ stdout: string }> {
  const options = { timeout: ASK_MS, env: clientEnvironment(command.env) }
  return promisify(execFile)(command.file, [...command.flags, ...args], options)
}

export interface WantedContainer {
  name: string
  /** The file to which podman writes the pid of the program; for docker, a command returns the pid. */
  pidFile: string
  /** Called when the program has ended. */
  ended(): void
}

/** Controls the program of a container. */
export function containedProcess(
  command: ContainerCommand,
  { name, pidFile, ended }: WantedContainer,
): ContainedProcess {
  let known: number | undefined
  let isGone = false
  const findPid = async (): Promise<void> => {
    for (let tries = 0; tries < PID_TRIES && known === undefined && !isGone; tries++) {
      await delay(KILL_PAUSE_MS)
      const found = await ask(command, ['inspect', '--format', '{{.State.Pid}}', name]).catch(() => undefined)
      known = Number(found?.stdout.trim()) || undefined
    }
  }
  if (command.kind === 'docker') void findPid()
  let isKilled = false
  const kill = async (): Promise<void> => {
    for (let tries = 0; tries < KILL_TRIES && !isGone; tries++) {
      const hasEnded = await ask(command, ['kill', name]).then(
        () => true,
        () => false,
      )
      if (hasEnded) return
      await delay(KILL_PAUSE_MS)
    }
  }
  return {
    pid: () => (known ??= command.kind === 'docker' ? undefined : readPid(pidFile)),
    signal: (signal) => void ask(command, ['kill', '--signal', signal, name]).catch(() => undefined),
    kill() {
      isKilled = true
      void kill()
    },
    async remove(signal) {
      isGone = true
      ended()
      const ranOut = signal === 'SIGKILL' && !isKilled && (await ranOutOfMemory(command, name))
      await ask(command, ['rm', '--force', name]).catch(() => undefined)
      await rm(pidFile, { force: true })
      return ranOut
    },
  }
}

const SINCE = '24h'

/** Whether a container ended because it used too much memory. Only for containers that the server did not kill. */
async function ranOutOfMemory(command: ContainerCommand, name: string): Promise<boolean> {
  const format = '{{.State.OOMKilled}}'
  const found = await ask(command, ['inspect', '--format', format, name]).catch(() => undefined)
  if (found?.stdout.trim() === 'true') return true
  if (command.kind === 'docker' || existsSync('/sys/fs/cgroup/cgroup.controllers')) return false
  // On cgroup v1 podman does not report a lack of memory. Its events include kills by its command, but not kills by the
  // kernel.
  const filters = ['--filter', `container=${name}`, '--filter', 'event=kill', '--since', SINCE]
  const events = await ask(command, ['events', '--stream=false', ...filters]).catch(() => undefined)
  return events === undefined || events.stdout.trim() === ''
}

function readPid(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8').trim()) || undefined
  } catch {
    return undefined
  }
}
