import { AppError } from '../../base/errors.ts'
import { openSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts'

/** What deployed code is isolated by (P-23). */
export type IsolationName = 'none' | 'sandbox'

/** The isolation that is in force. */
export type Isolation =
  | { name: 'none' /** Why there is no better one; null when it was asked for. */; reason: string | null }
  | { name: 'sandbox'; reason: null; sandbox: Sandbox }

/**
 * The isolation of DEPLOY_ISOLATION; `auto` is the best one that works here.
 * @throws AppError isolation_unavailable when the named one does not work
 */
export async function openIsolation(
  wanted: IsolationName | 'auto',
  options: SandboxOptions,
  open: typeof openSandbox = openSandbox,
): Promise<Isolation> {
  if (wanted === 'none') return { name: 'none', reason: null }
  const sandbox = await open(options)
  if (!('reason' in sandbox)) return { name: 'sandbox', reason: null, sandbox }
  const { reason } = sandbox
  if (wanted === 'auto') return { name: 'none', reason: `There is no sandbox: ${reason}` }
  const message = `DEPLOY_ISOLATION is sandbox, and there is none: ${reason}`
  throw new AppError('isolation_unavailable', { message })
}
