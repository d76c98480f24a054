import { fileURLToPath } from 'node:url'
import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { AccessRules } from '../runs/access/rulings.ts'
import type { AccessUser } from '../runs/model.ts'
import type { DeploymentFile } from './deployment-file.ts'
import { type HostLaunch, type HostProcess, hostEnvironment, startHostProcess } from './host-process.ts'
import type { FromUserAuth, RequestHead, ToUserAuth } from './user-auth-messages.ts'

/** What langgraph.json says of the auth file. */
type AuthFile = Pick<DeploymentFile, 'folder' | 'env'> & { auth: NonNullable<DeploymentFile['auth']> }

/** How a deployment's own auth file is run. */
export interface UserAuthOptions {
  file: AuthFile
  /** The server's environment, of which the process gets the least that it needs (D-42). */
  environment: Readonly<Record<string, string | undefined>>
  logger: Logger
  record: HostLaunch['record']
  /** How long a handler may take. Default 10 s. */
  timeoutMs?: number
}

/** A deployment's own auth file, in a process of its own. */
export interface UserAuth extends AccessRules {
  /** Users of LangGraph Studio are let in with a key of Weir. */
  readonly studio: boolean
  /** Undefined for a request that the file does not let in. @throws AppError as its handler says */
  authenticate(request: RequestHead): Promise<AccessUser | undefined>
  /** Runs the file as it is now on disk, and as langgraph.json now names it. */
  reload(file: AuthFile): void
  stop(): Promise<void>
}

const TIMEOUT_MS = 10_000
/** How long the file may take to load. */
const START_MS = 30_000
/** A process that could not load its file is not followed by another sooner. */
const START_PAUSE_MS = 1_000

type Question = Extract<ToUserAuth, { id: number }>
type Asked = Question extends infer Q ? (Q extends Question ? Omit<Q, 'id'> : never) : never
type Said = Extract<FromUserAuth, { id: number }>

/** One life of the process. */
interface Life {
  process: HostProcess<ToUserAuth>
  opened: Promise<void>
  /** When it last said anything, `performance.now()`. */
  heard: number
  gone: boolean
  waiting: Map<number, { resolve(said: Said): void; reject(error: AppError): void }>
}

/** Starts the process; it is started anew when it has ended and somebody asks. */
export function createUserAuth(options: UserAuthOptions): UserAuth {
  const { logger, timeoutMs = TIMEOUT_MS } = options
  let { file } = options
  let life: Life | undefined
  let failed: { error: AppError; at: number } | undefined
  let stopped = false
  let lastId = 0

  function living(): Life {
    if (stopped) throw unavailable('The server stops.')
    if (life !== undefined) return life
    if (failed !== undefined && performance.now() - failed.at < START_PAUSE_MS) throw failed.error
    const begun = begin({ ...options, file })
    life = begun
    begun.opened.catch((error: AppError) => {
      failed = { error, at: performance.now() }
      if (!stopped)
        logger.error({ reason: error.message }, 'the auth file of the deployment cannot be loaded')
    })
    void begun.process.exited.then(({ code, signal }) => {
      if (life === begun) life = undefined
      if (!stopped) logger.warn({ code, signal }, 'the process of the auth file has ended')
    })
    return begun
  }

  const exchange = (asked: Asked): Promise<Said> =>
    exchangeWith(living(), { ...asked, id: ++lastId }, timeoutMs)

  return {
    get studio() {
      return !file.auth.disable_studio_auth
    },
    async authenticate(request) {
      const said = await exchange({ type: 'authenticate', request })
      return said.type === 'user' ? (said.user ?? undefined) : undefined
    },
    async ask(user, event, value) {
      const said = await exchange({ type: 'ask', user, event, value })
      if (said.type !== 'answer') throw new AppError('auth_failed')
      return { filter: said.filter, value: said.value }
    },
    reload(next) {
      file = next
      failed = undefined
      life?.process.kill()
      life = undefined
    },
    async stop() {
      stopped = true
      life?.process.kill()
      await life?.process.exited
    },
  }
}

/** Asks the process and waits for its answer, not longer than so. @throws AppError as the handler says; auth_unavailable */
async function exchangeWith(life: Life, asked: Question, timeoutMs: number): Promise<Said> {
  const { process, opened, waiting } = life
  await opened
  // It may have ended in between.
  if (life.gone) throw unavailable(ENDED)
  const { promise, resolve, reject } = Promise.withResolvers<Said>()
  waiting.set(asked.id, { resolve, reject })
  const start = performance.now()
  const timer = setTimeout(() => {
    reject(unavailable(`The auth handler took longer than ${timeoutMs / 1000} s.`))
    // Nothing from it at all meanwhile: it is held up, and would hold up everybody.
    if (life.heard < start) process.kill()
  }, timeoutMs)
  try {
    process.channel.send(asked)
    return await promise
  } finally {
    clearTimeout(timer)
    waiting.delete(asked.id)
  }
}

const ENDED = 'The process of the auth file has ended.'

function unavailable(message: string): AppError {
  return new AppError('auth_unavailable', { message })
}

function begin(options: UserAuthOptions): Life {
  const waiting: Life['waiting'] = new Map()
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>()
  const process = startHostProcess<FromUserAuth, ToUserAuth>(launchOf(options), ({ head }) => {
    life.heard = performance.now()
    if (head.type === 'opened') return resolve()
    if (head.type === 'failed') {
      reject(unavailable(head.message))
      return process.kill()
    }
    if (head.type === 'log') {
      const { level, text, fields } = head
      return options.logger[level](
        { auth_host: process.pid, text, ...(fields && { fields }) },
        'auth file logged',
      )
    }
    const asked = waiting.get(head.id)
    if (head.type === 'refused') asked?.reject(new AppError(head.code, { message: head.message }))
    else asked?.resolve(head)
  })
  const life: Life = { process, opened, heard: 0, gone: false, waiting }
  const timer = setTimeout(() => {
    reject(unavailable(`The auth file took longer than ${START_MS / 1000} s to load.`))
    process.kill()
  }, START_MS)
  opened.finally(() => clearTimeout(timer)).catch(() => undefined)
  void process.exited.then(({ stderr }) => {
    life.gone = true
    const gone = new AppError('auth_unavailable', { message: ENDED, cause: stderr })
    reject(gone)
    for (const { reject: refuse } of waiting.values()) refuse(gone)
  })
  return life
}

function launchOf({ file, environment, logger, record }: UserAuthOptions) {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const at = file.auth.path.lastIndexOf(':')
  return {
    kind: 'auth-host',
    nodePath: process.execPath,
    entry: fileURLToPath(new URL(`../auth-host.${extension}`, import.meta.url)),
    cwd: file.folder,
    env: hostEnvironment(environment, file.env),
    open: { type: 'open', file: file.auth.path.slice(0, at), export: file.auth.path.slice(at + 1) } as const,
    logger,
    record,
  }
}
