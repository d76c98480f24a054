import { childEntry } from '../../base/child-entry.ts'
import { dirname } from 'node:path'
import { platform } from 'node:process'
import { AppError } from '../../base/errors.ts'
import { holdSocket } from '../../base/node/hold-socket.ts'
import type { DeploymentFile } from '../project/deployment-file.ts'
import {
  type ChildOptions,
  type HostLaunch,
  type HostProcess,
  hostEnvironment,
  nodeCommand,
  startHostProcess,
} from '../pool/process.ts'
import { createStartPauses } from '../../base/background/start-pauses.ts'
import { createToldFailures } from '../../base/background/told-failures.ts'
import { pythonCommand } from '../python/interpreter.ts'
import {
  type AppRoute,
  FROM_HTTP_APP_HEADS,
  type FromHttpApp,
  type OpenApp,
  type ToHttpApp,
} from './messages.ts'
import { makeSocketFolder, socketPath } from '../project/socket-folder.ts'
import { removeSockets } from '../project/temporary-folder.ts'

type AppFile = Pick<DeploymentFile, 'folder' | 'env'> & { app: NonNullable<DeploymentFile['app']> }

export interface HttpAppOptions extends ChildOptions {
  file: AppFile
  /** Called with absolute paths of modules outside of packages that the app loaded or failed to find. */
  loaded?: ((files: readonly string[]) => void) | undefined
}

/** The running process of an app. */
export interface OpenHttpApp {
  /** Path of the Unix socket. */
  socket: string
  /** Null if the app is only a `fetch` handler. */
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
  /**
   * Returns the running app. If its process has ended, another one is started first, unless several have ended soon
   * after their start. @throws AppError app_unavailable with the reason
   */
  open(): Promise<OpenHttpApp>
  /** Restarts the app with the current code and the current entry of langgraph.json. */
  reload(file: AppFile): void
  stop(): Promise<void>
}

/** Time limit for loading the module. */
const START_MS = 30_000
/** Time limit for the shutdown of the app, after which its process is killed. */
const STOP_MS = 2_000
/** Time for which a socket file is held open after its process has ended. */
const CLOSE_MS = 60_000

interface Life {
  process: HostProcess<ToHttpApp>
  opened: Promise<OpenHttpApp>
}

/** Starts the process of a deployment's custom HTTP app. */
export async function createHttpApp(options: HttpAppOptions): Promise<HttpApp> {
  const { logger } = options
  const folder = await makeSocketFolder('app')
  const [core, inner] = [socketPath(folder, 'core'), socketPath(folder, 'inner')]
  let { file } = options
  let life: Life | undefined
  const told = createToldFailures()
  const pauses = createStartPauses(() => unavailable(ENDED))
  let lives = 0
  let stopped = false

  function living(): Life {
    if (stopped) throw unavailable('The server is stopping.')
    if (life !== undefined) return life
    const started = pauses.begin()
    const listen = socketPath(folder, `app-${++lives}`)
    const begun = begin(launchOf({ ...options, file }, { listen, core, inner }), options)
    life = begun
    begun.opened.catch((error: AppError) => {
      started.failed(error)
      if (!stopped && told.isDue('load', error.message))
        logger.error({ reason: error.message }, 'the HTTP app of the deployment cannot be loaded')
    })
    void begun.process.exited.then(({ code, signal }) => {
      started.ended()
      if (life !== begun) return
      life = undefined
      // Each process is another one, so a further end is told after the pause.
      if (!stopped && told.isDue('end', `${begun.process.pid}`))
        logger.warn({ code, signal }, 'the process of the HTTP app has ended')
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
      pauses.reset()
      told.reset()
      const old = life
      life = undefined
      if (old !== undefined) void end(old.process)
      living()
    },
    async stop() {
      stopped = true
      if (life !== undefined) await end(life.process)
      await removeSockets(folder)
    },
  }
}

async function end({ channel, exited, kill }: HostProcess<ToHttpApp>): Promise<void> {
  channel.send({ type: 'stop' })
  const timer = setTimeout(kill, STOP_MS)
  await exited
  clearTimeout(timer)
}

const ENDED = 'The process of the HTTP app has ended.'

function unavailable(message: string): AppError {
  return new AppError('app_unavailable', { message })
}

function begin(
  launch: HostLaunch<OpenApp>,
  { loaded, mask = (text) => text }: Pick<HttpAppOptions, 'loaded' | 'mask'>,
): Life {
  const { promise: opened, resolve, reject } = Promise.withResolvers<OpenHttpApp>()
  const process = startHostProcess<FromHttpApp, ToHttpApp>(launch, FROM_HTTP_APP_HEADS, ({ head }) => {
    if (head.type === 'loaded') loaded?.(head.files)
    else if (head.type === 'opened') resolve(opening(head.routes))
    else {
      reject(unavailable(mask(head.message)))
      process.kill()
    }
  })
  async function opening(routes: OpenHttpApp['routes']): Promise<OpenHttpApp> {
    const { listen } = launch.open
    if (launch.confine === undefined || platform !== 'linux') return { socket: listen, routes }
    // The socket is held open, because the app could replace its file by a link to a socket that the app itself cannot
    // reach, and requests would go there.
    const held = await holdSocket(listen).catch((error: unknown) => {
      process.kill()
      throw error
    })
    if (held === undefined) {
      process.kill()
      throw unavailable('The HTTP app listens on no socket.')
    }
    // The socket is released later: requests that have already got the path may still connect, and the path must not
    // lead to another file until then.
    void process.exited.then(() => setTimeout(() => void held.close(), CLOSE_MS).unref())
    return { socket: held.path, routes }
  }
  const timer = setTimeout(() => {
    reject(unavailable(`The HTTP app took longer than ${START_MS / 1000} s to load.`))
    process.kill()
  }, START_MS)
  opened.finally(() => clearTimeout(timer)).catch(() => undefined)
  void process.exited.then(({ unstarted, broken }) => reject(unavailable(unstarted ?? broken ?? ENDED)))
  return { process, opened }
}

function launchOf(
  { file, environment, logger, printed, record, confine, loaded }: HttpAppOptions,
  sockets: Pick<OpenApp, 'listen' | 'core' | 'inner'>,
): HostLaunch<OpenApp> {
  const { language, ...app } = file.app
  return {
    kind: 'app-host',
    command:
      language === 'python'
        ? pythonCommand('http-app', file.folder, environment)
        : nodeCommand(childEntry('app-host')),
    cwd: file.folder,
    env: hostEnvironment(environment, file.env),
    open: { type: 'open', ...app, ...sockets, report_files: loaded !== undefined },
    logger,
    printed,
    record,
    confine,
    socketFolders: [dirname(sockets.listen)],
  }
}
