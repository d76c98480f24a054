import { childEntry } from '../../base/child-entry.ts'
import { AppError } from '../../base/errors.ts'
import type { AccessRules } from '../../runs/access/rulings.ts'
import type { AccessUser } from '../../runs/model.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { rawJson } from '../../schema/raw-json.ts'
import { handlerOf } from './handler-of.ts'
import type { DeploymentFile } from '../project/deployment-file.ts'
import { pythonCommand } from '../python/interpreter.ts'
import {
  type ChildOptions,
  type HostProcess,
  hostEnvironment,
  nodeCommand,
  startHostProcess,
} from '../pool/process.ts'
import { createStartPauses } from '../../base/background/start-pauses.ts'
import { createToldFailures } from '../../base/background/told-failures.ts'
import { type AuthRequest, FROM_USER_AUTH_HEADS, type FromUserAuth, type ToUserAuth } from './messages.ts'

/** The part of langgraph.json about the auth file. */
type AuthFile = Pick<DeploymentFile, 'folder' | 'env'> & { auth: NonNullable<DeploymentFile['auth']> }

export interface UserAuthOptions extends ChildOptions {
  file: AuthFile
  /** Time limit of a handler. Default 10 s. */
  timeoutMs?: number
  /** Time limit for loading the file. Default 30 s. */
  startMs?: number
}

/** A deployment's own auth file, in a process of its own. */
export interface UserAuth extends AccessRules {
  /** Whether users of LangGraph Studio may authenticate with a key of Weir. */
  readonly studio: boolean
  /** Resolves when the file is loaded. @throws AppError auth_unavailable with the reason if it cannot be loaded */
  ready(): Promise<void>
  /** Returns the handler's user; undefined if it returns none. @throws AppError if the handler throws */
  authenticate(request: AuthRequest): Promise<AccessUser | undefined>
  /** Restarts the process with the current content of the file and of langgraph.json. */
  reload(file: AuthFile): void
  stop(): Promise<void>
}

const TIMEOUT_MS = 10_000
const START_MS = 30_000
/**
 * Heap limit of the process, unless langgraph.json sets NODE_OPTIONS. With this limit, a memory leak in the auth file
 * ends only this process, which is then restarted.
 */
const MAX_HEAP_MB = 512

type Question = Extract<ToUserAuth, { id: number }>
type Asked = Question extends infer Q ? (Q extends Question ? Omit<Q, 'id'> : never) : never
type Reply = Extract<FromUserAuth, { id: number }>

/** One process, from its start to its end. */
interface Life {
  process: HostProcess<ToUserAuth>
  /** Resolves with the names of the file's handlers. */
  opened: Promise<ReadonlySet<string>>
  /** Time of the process's last message, by `performance.now()`. */
  lastMessageAt: number
  gone: boolean
  waiting: Map<number, { resolve(reply: Reply): void; reject(error: AppError): void }>
}

/** Starts the process. If it has ended, the next call starts it again. */
export function createUserAuth(options: UserAuthOptions): UserAuth {
  const { logger, timeoutMs = TIMEOUT_MS } = options
  let { file } = options
  let life: Life | undefined
  const told = createToldFailures()
  const pauses = createStartPauses(() => unavailable(ENDED))
  let stopped = false
  let lastId = 0

  function living(): Life {
    if (stopped) throw unavailable('The server stops.')
    if (life !== undefined) return life
    const started = pauses.begin()
    const begun = begin({ ...options, file })
    life = begun
    begun.opened.catch((error: AppError) => {
      started.failed(error)
      if (!stopped && told.isDue('load', error.message))
        logger.error({ reason: error.message }, 'the auth file of the deployment cannot be loaded')
    })
    void begun.process.exited.then(({ code, signal }) => {
      if (life === begun) life = undefined
      started.ended()
      // Each process is another one, so a further end is told after the pause.
      if (!stopped && told.isDue('end', `${begun.process.pid}`))
        logger.warn({ code, signal }, 'the process of the auth file has ended')
    })
    return begun
  }

  const exchange = (asked: Asked): Promise<Reply> =>
    exchangeWith(living(), { ...asked, id: ++lastId }, timeoutMs)

  return {
    get studio() {
      return !file.auth.disable_studio_auth
    },
    ready: async () => void (await living().opened),
    async authenticate(request) {
      const reply = await exchange({ type: 'authenticate', request })
      return reply.type === 'user' ? (reply.user ?? undefined) : undefined
    },
    async ask(user, event, value) {
      const asked = living()
      // The value is not sent when no handler is registered for the event.
      if (handlerOf(await asked.opened, event) === undefined) return { filter: null, value: {} }
      const reply = await exchangeWith(asked, { type: 'ask', user, event, value, id: ++lastId }, timeoutMs)
      if (reply.type !== 'answer') throw new AppError('auth_failed')
      return { filter: reply.filter, value: reply.value }
    },
    reload(next) {
      file = next
      pauses.reset()
      told.reset()
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

/**
 * Sends a request to the process and waits for the answer, for at most `timeoutMs`. @throws AppError the handler's own
 * error; auth_unavailable
 */
async function exchangeWith(life: Life, asked: Question, timeoutMs: number): Promise<Reply> {
  const { process, opened, waiting } = life
  await opened
  // The process may have ended while this call waited for `opened`.
  if (life.gone) throw unavailable(ENDED)
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  waiting.set(asked.id, { resolve, reject })
  const start = performance.now()
  const timer = setTimeout(() => {
    reject(unavailable(`The auth handler took longer than ${timeoutMs / 1000} s.`))
    // The process has sent no message since this request began. It is blocked and would block all callers, so it is
    // killed.
    if (life.lastMessageAt < start) process.kill()
  }, timeoutMs)
  try {
    process.channel.send(asked)
    return await promise
  } finally {
    clearTimeout(timer)
    waiting.delete(asked.id)
  }
}

/** A value that is longer than this is not parsed. */
const RAW_CHARS = 64 << 10

const ENDED = 'The process of the auth file has ended.'

function unavailable(message: string): AppError {
  return new AppError('auth_unavailable', { message })
}

function begin(options: UserAuthOptions): Life {
  const { mask = (text) => text } = options
  const waiting: Life['waiting'] = new Map()
  const { promise: opened, resolve, reject } = Promise.withResolvers<ReadonlySet<string>>()
  const process = startHostProcess<FromUserAuth, ToUserAuth>(
    launchOf(options),
    FROM_USER_AUTH_HEADS,
    ({ head, parts }) => {
      life.lastMessageAt = performance.now()
      if (head.type === 'opened') return resolve(new Set(head.handlers))
      if (head.type === 'failed') {
        reject(unavailable(mask(head.message)))
        return process.kill()
      }
      if (head.type === 'log') return logLine(options, head, process.pid)
      const asked = waiting.get(head.id)
      if (head.type === 'refused') asked?.reject(new AppError(head.code, { message: head.message }))
      else asked?.resolve(withPart(head, parts))
    },
  )
  const life: Life = { process, opened, lastMessageAt: 0, gone: false, waiting }
  const { startMs = START_MS } = options
  const timer = setTimeout(() => {
    reject(unavailable(`The auth file took longer than ${startMs / 1000} s to load.`))
    process.kill()
  }, startMs)
  opened.finally(() => clearTimeout(timer)).catch(() => undefined)
  void process.exited.then(({ stderr, unstarted, broken }) => {
    life.gone = true
    const message = unstarted ?? broken ?? ENDED
    const gone = new AppError('auth_unavailable', { message, cause: stderr })
    reject(gone)
    for (const { reject: refuse } of waiting.values()) refuse(gone)
  })
  return life
}

/**
 * Passes on a line of the auth file's logger. `printed` masks secrets, but the server's log does not, so the lines go
 * to only one of them.
 */
function logLine(
  { logger, printed }: UserAuthOptions,
  { level, text, fields }: Extract<FromUserAuth, { type: 'log' }>,
  pid: number,
): void {
  if (printed) printed(level === 'warn' || level === 'error' ? 'stderr' : 'stdout', text, pid)
  else logger[level]({ auth_host: pid, text, ...(fields && { fields }) }, 'auth file logged')
}

/** Adds to the answer the field that was sent as a part. A large field stays unparsed JSON text. */
function withPart(reply: Reply, [part]: readonly Buffer[]): Reply {
  if (reply.type !== 'answer' || reply.in_part === undefined || part === undefined) return reply
  const text = part.toString('utf8')
  const field = text.length > RAW_CHARS ? rawJson(text) : parseExact(text)
  return { ...reply, value: { ...reply.value, [reply.in_part]: field } }
}

function launchOf({ file, environment, logger, printed, record, confine }: UserAuthOptions) {
  const { language, file: path, module, export: name } = file.auth
  return {
    kind: 'auth-host',
    command:
      language === 'python'
        ? pythonCommand('user-auth', file.folder, environment)
        : nodeCommand(childEntry('auth-host')),
    cwd: file.folder,
    env: { NODE_OPTIONS: `--max-old-space-size=${MAX_HEAP_MB}`, ...hostEnvironment(environment, file.env) },
    open: { type: 'open', file: path, module, export: name } as const,
    logger,
    printed,
    record,
    confine,
  }
}
