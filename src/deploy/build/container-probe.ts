import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Probe } from '../runtimes.ts'

const COMMANDS = ['docker', 'podman'] as const
const PATIENCE_MS = 10_000

/**
 * Looks for docker and podman. The result is always negative, since this version does not start hosts in containers; its
 * reason says whether one of them answers.
 */
export async function probeContainers(env: Readonly<Record<string, string | undefined>>): Promise<Probe> {
  const found: string[] = []
  for (const command of COMMANDS) {
    const reason = await answer(command, env)
    if (reason === undefined) {
      const message = `${command} answers, but this version of Weir does not run graphs in containers: set DEPLOY_RUNTIME=process.`
      return { ok: false, reason: message }
    }
    found.push(reason)
  }
  return {
    ok: false,
    reason: `DEPLOY_RUNTIME is container, and no container runtime answers: ${found.join('; ')}.`,
  }
}

/** Why the command does not answer; undefined if it does. */
async function answer(
  command: string,
  { PATH, HOME, DOCKER_HOST, XDG_RUNTIME_DIR }: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  try {
    const env = { PATH, HOME, DOCKER_HOST, XDG_RUNTIME_DIR }
    await promisify(execFile)(command, ['info'], { timeout: PATIENCE_MS, env })
    return undefined
  } catch (error) {
    const { code, killed } = error as NodeJS.ErrnoException & { killed?: boolean }
    if (code === 'ENOENT') return `${command} is not installed`
    return killed === true ? `${command} info took longer than 10 s` : `${command} info failed (${code})`
  }
}
