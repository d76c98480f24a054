import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { clientEnvironment } from '../isolation/container-environment.ts'
import type { Probe } from '../runtimes.ts'

const COMMANDS = ['podman', 'docker']
const PATIENCE_MS = 10_000

/**
 * Looks for podman and docker without starting a container. Used when DEPLOY_RUNTIME names another runtime, to report
 * whether containers could be used.
 */
export async function probeContainers(env: Readonly<Record<string, string | undefined>>): Promise<Probe> {
  const reasons: string[] = []
  for (const command of COMMANDS) {
    const reason = await reasonOf(command, clientEnvironment(env))
    if (reason === undefined) return { ok: true, isolation: 'container' }
    reasons.push(reason)
  }
  return { ok: false, reason: `${reasons.join('; ')}.` }
}

async function reasonOf(command: string, env: Record<string, string>): Promise<string | undefined> {
  try {
    await promisify(execFile)(command, ['info'], { timeout: PATIENCE_MS, env })
    return undefined
  } catch (error) {
    const { code, killed } = error as NodeJS.ErrnoException & { killed?: boolean }
    if (code === 'ENOENT') return `${command} is not installed`
    return killed === true ? `${command} info took longer than 10 s` : `${command} info failed (${code})`
  }
}
