import { AppError } from '../../base/errors.ts'
import { type ContainersOptions, openContainers } from './containers.ts'
import { openOwnUsers } from './own-users.ts'
import { openSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts'

/** The ways to isolate deployed code (P-23). */
export type IsolationName = 'none' | 'uid' | 'sandbox' | 'container'

export type Isolation =
  | { name: 'none' /** Why no better isolation is used; null if `none` was set. */; reason: string | null }
  | { name: Exclude<IsolationName, 'none'>; reason: null; sandbox: Sandbox }
  /** If DEPLOY_RUNTIME names containers, but containers do not work. */
  | { name: 'container'; reason: string }

/**
 * Returns the sandbox of builds and hosts; undefined without one. @throws AppError container_runtime_unavailable (P-13)
 */
export function sandboxIn(isolation: Isolation): Sandbox | undefined {
  if ('sandbox' in isolation) return isolation.sandbox
  if (isolation.name === 'none') return undefined
  throw new AppError('container_runtime_unavailable', { message: isolation.reason })
}

/** Opens containers of docker or podman, or returns the reason why there are none. */
export async function openContainerIsolation(
  options: ContainersOptions,
  open: typeof openContainers = openContainers,
): Promise<Isolation> {
  const opened = await open(options)
  if (!('reason' in opened)) return { name: 'container', reason: null, sandbox: opened }
  return { name: 'container', reason: `DEPLOY_RUNTIME is container, and none works: ${opened.reason}` }
}

/** The isolations that `auto` tries, the best first, each with the text about its absence. */
const CHOICES = [
  { name: 'sandbox', words: 'no sandbox' },
  { name: 'uid', words: 'no user id for each deployment' },
] as const

type Choice = (typeof CHOICES)[number]['name']
type Open = (options: SandboxOptions) => Promise<Sandbox | { reason: string }>

/**
 * Opens the isolation of DEPLOY_ISOLATION; `auto` opens the best one that works.
 * @throws AppError isolation_unavailable when the named one does not work
 */
export async function openIsolation(
  wanted: Choice | 'auto' | 'none',
  options: SandboxOptions,
  open: Readonly<Record<Choice, Open>> = { sandbox: openSandbox, uid: openOwnUsers },
): Promise<Isolation> {
  if (wanted === 'none') return { name: 'none', reason: null }
  const reasons: string[] = []
  for (const { name, words } of CHOICES) {
    if (wanted !== 'auto' && wanted !== name) continue
    const sandbox = await open[name](options)
    if (!('reason' in sandbox)) return { name, reason: null, sandbox }
    if (wanted === name) {
      const message = `DEPLOY_ISOLATION is ${name}, and it does not work here: ${sandbox.reason}`
      throw new AppError('isolation_unavailable', { message })
    }
    reasons.push(`There is ${words}: ${sandbox.reason}`)
  }
  return { name: 'none', reason: reasons.join(' ') }
}
