import { childEntry } from '../../base/child-entry.ts'
import { AppError } from '../../base/errors.ts'
import type { DeploymentFile } from '../project/deployment-file.ts'
import {
  type ChildOptions,
  type HostLaunch,
  hostEnvironment,
  nodeCommand,
  startHostProcess,
} from '../pool/process.ts'
import { FROM_UI_HOST_HEADS, type FromUiHost, type ToUiHost } from './messages.ts'

type UiFile = Pick<DeploymentFile, 'folder' | 'env'> & { ui: NonNullable<DeploymentFile['ui']> }

export interface UiBundlesOptions extends ChildOptions {
  file: UiFile
  /** Whether to bundle again when files change. */
  watch: boolean
  /** Time limit for all bundles together. Default 60 s. */
  timeoutMs?: number
}

/** Files of a bundle by name. */
export type UiBundle = ReadonlyMap<string, Uint8Array>

/** The UI components of a deployment, bundled in a separate process. */
export interface UiBundles {
  /**
   * Returns the bundle of a graph; undefined for a graph without components. Waits for a bundle in progress. @throws
   * AppError ui_unavailable
   */
  bundle(graph_id: string): Promise<UiBundle | undefined>
  stop(): Promise<void>
}

const TIMEOUT_MS = 60_000
/** Maximum bytes of all files of a graph together. */
const MAX_BYTES = 32 << 20

interface Pending {
  promise: Promise<UiBundle>
  resolve(bundle: UiBundle): void
  reject(error: AppError): void
}

/** Starts the process that bundles the UI components of a deployment. */
export function startUiBundles(options: UiBundlesOptions): UiBundles {
  const { file, logger, watch, timeoutMs = TIMEOUT_MS, mask = (text) => text } = options
  const bundles = new Map<string, Pending>()
  const open = new Set(Object.keys(file.ui.components))
  for (const graph_id of open) bundles.set(graph_id, newPending())

  const child = startHostProcess<FromUiHost, ToUiHost>(
    launchOf(options),
    FROM_UI_HOST_HEADS,
    ({ head, parts }) => {
      const { graph_id } = head
      if (head.type === 'failed') fail(graph_id, mask(head.message))
      else if (parts.reduce((sum, part) => sum + part.length, 0) > MAX_BYTES) {
        fail(graph_id, `The bundle is larger than ${MAX_BYTES >> 20} MB.`)
      } else done(graph_id, new Map(head.names.map((name, at) => [name, parts[at] ?? new Uint8Array()])))
      if (open.size === 0) {
        clearTimeout(timer)
        if (!watch) child.kill()
      }
    },
  )
  const timer = setTimeout(() => {
    failRest(`The bundles took longer than ${timeoutMs / 1000} s.`)
    child.kill()
  }, timeoutMs)
  void child.exited.then(({ broken }) => {
    clearTimeout(timer)
    failRest(broken ?? 'The bundler ended.')
  })

  function done(graph_id: string, bundle: UiBundle): void {
    // A later bundle replaces the earlier one.
    if (!open.delete(graph_id)) bundles.set(graph_id, newPending())
    bundles.get(graph_id)?.resolve(bundle)
  }

  function fail(graph_id: string, message: string): void {
    if (!open.delete(graph_id)) return
    logger.error({ graph_id, reason: message }, 'UI components of a graph cannot be bundled')
    bundles.get(graph_id)?.reject(new AppError('ui_unavailable', { message }))
  }

  function failRest(message: string): void {
    for (const graph_id of [...open]) fail(graph_id, message)
  }

  return {
    bundle: async (graph_id) => bundles.get(graph_id)?.promise,
    async stop() {
      clearTimeout(timer)
      open.clear()
      child.kill()
      await child.exited
    },
  }
}

/** A pending promise whose rejection needs no handler; the error is logged elsewhere. */
function newPending(): Pending {
  const pending = Promise.withResolvers<UiBundle>()
  pending.promise.catch(() => undefined)
  return pending
}

function launchOf({
  file,
  environment,
  logger,
  printed,
  record,
  confine,
  watch,
}: UiBundlesOptions): HostLaunch<ToUiHost> {
  const { components, shared } = file.ui
  return {
    kind: 'ui-host',
    command: nodeCommand(childEntry('ui-host')),
    cwd: file.folder,
    env: hostEnvironment(environment, file.env),
    open: { type: 'open', folder: file.folder, ui: components, shared, watch },
    logger,
    printed,
    record,
    confine,
  }
}
