import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { DeploymentFile } from './deployment-file.ts'
import { type HostLaunch, type HostProcess, hostEnvironment, startHostProcess } from './host-process.ts'
import type { AppRoute, FromHttpApp, ToHttpApp } from './http-app-messages.ts'

type AppFile = Pick<DeploymentFile, 'folder' | 'env'> & { app: NonNullable<DeploymentFile['app']> }

/** How a deployment's own HTTP app is run. */
export interface HttpAppOptions {
  file: AppFile
  /** The server's environment, of which the process gets the least that it needs (D-42). */
  environment: Readonly<Record<string, string | undefined>>
  logger: Logger
  record: HostLaunch['record']
  /** Called with the modules outside of packages that the app has loaded, or looked for: absolute paths. */
  loaded?: ((files: readonly string[]) => void) | undefined
}

/** An app that listens. */
export interface OpenHttpApp {
  /** Of the Unix socket. */
  socket: string
  /** Null: a bare `fetch` handler. */
  routes: AppRoute[] | null
}

/** A deployment's own HTTP app, in a process of its own, reached over sockets that nobody else can open. */
export interface HttpApp {
  /** Sockets for the server to listen on: for requests that the app leaves to the routes of Weir, and for those that it makes of its own deployment. */
  readonly core: string
  readonly inner: string
  /** The app, which is started anew when it has ended. @throws AppError app_unavailable with the reason */
  open(): Promise<OpenHttpApp>
  /** Runs the app as it is now on disk, and as langgraph.json now names it. */
  reload(file: AppFile): void
  stop(): Promise<void>
}

/** How long the module may take to load. */
const START_MS = 30_000
/** After a process that could not load its module, the next one starts no sooner. */
const START_PAUSE_MS = 1_000

interface Life {
  process: HostProcess<ToHttpApp>
  opened: Promise<OpenHttpApp>
}

/** Starts the app. */
export async function createHttpApp(options: HttpAppOptions): Promise<HttpApp> {
  const { logger } = options
  const folder = await makeSocketFolder()
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

/** Bytes that the path of a Unix socket may have on macOS; Linux takes 107. */
const MAX_SOCKET_PATH = 103

/** Makes a folder that only this user can enter, with a path that is short enough for sockets. */
function makeSocketFolder(): Promise<string> {
  const longest = 'weir-app-XXXXXX/app-1000000'
  const isDeep = Buffer.byteLength(join(tmpdir(), longest)) > MAX_SOCKET_PATH
  return mkdtemp(join(isDeep && process.platform !== 'win32' ? '/tmp' : tmpdir(), 'weir-app-'))
}

/** In the folder; on Windows a pipe. */
function socketPath(folder: string, name: string): string {
  return process.platform === 'win32' ? `\\\\.\\pipe\\weir-${randomUUID()}-${name}` : join(folder, name)
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
  { file, environment, logger, record, loaded }: HttpAppOptions,
  sockets: Pick<ToHttpApp, 'listen' | 'core' | 'inner'>,
): HostLaunch<ToHttpApp> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return {
    kind: 'app-host',
    nodePath: process.execPath,
    entry: fileURLToPath(new URL(`../app-host.${extension}`, import.meta.url)),
    cwd: file.folder,
    env: hostEnvironment(environment, file.env),
    open: { type: 'open', ...file.app, ...sockets, tell_files: loaded !== undefined },
    logger,
    record,
  }
}
