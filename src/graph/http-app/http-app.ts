import { childEntry } from '../../base/child-entry.ts'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../base/errors.ts'
import type { DeploymentFile } from '../project/deployment-file.ts'
import {
  type ChildOptions,
  type HostLaunch,
  type HostProcess,
  hostEnvironment,
  startHostProcess,
} from '../pool/process.ts'
import type { AppRoute, FromHttpApp, ToHttpApp } from './messages.ts'
import { makeSocketFolder, socketPath } from '../project/socket-folder.ts'

type AppFile = Pick<DeploymentFile, 'folder' | 'env'> & { app: NonNullable<DeploymentFile['app']> }

/** Options of a deployment's custom HTTP app. */
export interface HttpAppOptions extends ChildOptions {
  file: AppFile
  /** Called with absolute paths of modules outside of packages that the app loaded or failed to find. */
  loaded?: ((files: readonly string[]) => void) | undefined
}

/** A running app. */
export interface OpenHttpApp {
  /** Path of the Unix socket. */
  socket: string
  /** Null: a bare `fetch` handler. */
  routes: AppRoute[] | null
}

/** A deployment's custom HTTP app in a process of its own, reached over private sockets. */
export interface HttpApp {
  /**
   * Sockets that the server listens on: `core` for requests that the app passes on to Weir's routes, `inner` for the
   * app's own requests.
   */
  readonly core: string
  readonly inner: string
  /** Returns the running app. If its process has ended, another one is started first. @throws AppError app_unavailable with the reason */
  open(): Promise<OpenHttpApp>
  /** Restarts the app with the current code and the current entry of langgraph.json. */
  reload(file: AppFile): void
  stop(): Promise<void>
}

/** How long the module may take to load. */
const START_MS = 30_000
/** Pause before the next start when the module could not be loaded. */
const START_PAUSE_MS = 1_000

interface Life {
  process: HostProcess<ToHttpApp>
  opened: Promise<OpenHttpApp>
}

/** Starts the app. */
export async function createHttpApp(options: HttpAppOptions): Promise<HttpApp> {
  const { logger } = options
  const folder = await makeSocketFolder('app')
  const [core, inner] = [socketPath(folder, 'core'), socketPath(folder, 'inner')]
  let { file } = options
  let life: Life | undefined
  let failed: { error: AppError; at: number } | undefined
  let lives = 0
  let stopped = false

  function living(): Life {
    if (stopped) throw unavailable('The server is stopping.')
    if (life !== undefined) return life
    if (failed !== undefined && performance.now() - failed.at < START_PAUSE_MS) throw failed.error
    const listen = socketPath(folder, `app-${++lives}`)
    const begun = begin(launchOf({ ...options, file }, { listen, core, inner }), options.loaded)
    life = begun
    begun.opened.catch((error: AppError) => {
      if (life === begun || life === undefined) failed = { error, at: performance.now() }
      if (!stopped) logger.error({ reason: error.message }, 'the HTTP app of the deployment cannot be loaded')
    })
    void begun.process.exited.then(({ code, signal }) => {
      if (life !== begun) return
      life = undefined
      if (!stopped) logger.warn({ code, signal }, 'the process of the HTTP app has ended')
    })
    return begun
  }

  living()
  return {
    core,
    inner,
    open: async () => living().opened,
    reload(next) {
      file = next
      failed = undefined
      const old = life
      life = undefined
      old?.process.kill()
      living()
    },
    async stop() {
      stopped = true
      life?.process.kill()
      await life?.process.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function unavailable(message: string): AppError {
  return new AppError('app_unavailable', { message })
}

function begin(launch: HostLaunch<ToHttpApp>, loaded: HttpAppOptions['loaded']): Life {
  const { promise: opened, resolve, reject } = Promise.withResolvers<OpenHttpApp>()
  const process = startHostProcess<FromHttpApp, ToHttpApp>(launch, ({ head }) => {
    if (head.type === 'loaded') loaded?.(head.files)
    else if (head.type === 'opened') resolve({ socket: launch.open.listen, routes: head.routes })
    else {
      reject(unavailable(head.message))
      process.kill()
    }
  })
  const timer = setTimeout(() => {
    reject(unavailable(`The HTTP app took longer than ${START_MS / 1000} s to load.`))
    process.kill()
  }, START_MS)
  opened.finally(() => clearTimeout(timer)).catch(() => undefined)
  void process.exited.then(() => reject(unavailable('The process of the HTTP app has ended.')))
  return { process, opened }
}

function launchOf(
  { file, environment, logger, record, confine, loaded }: HttpAppOptions,
  sockets: Pick<ToHttpApp, 'listen' | 'core' | 'inner'>,
): HostLaunch<ToHttpApp> {
  return {
    kind: 'app-host',
    nodePath: process.execPath,
    entry: fileURLToPath(childEntry('app-host')),
    cwd: file.folder,
    env: hostEnvironment(environment, file.env),
    open: { type: 'open', ...file.app, ...sockets, report_files: loaded !== undefined },
    logger,
    record,
    confine,
    reach: [dirname(sockets.listen)],
  }
}
