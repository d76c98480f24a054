import { inspect } from 'node:util'
import { AppError, type ErrorCode } from '../base/errors.ts'
import type { AccessUser } from '../runs/model.ts'
import { isObject, type JsonObject } from '../schema/json.ts'
import { type Channel, openChannel } from './channel.ts'
import { installGraphLogger } from './graph-logger.ts'
import { openServerSocket } from './host-vitals.ts'
import { loadExport, prepareLoader } from './load-graphs.ts'
import type { FromUserAuth, RequestHead, ToUserAuth } from './user-auth-messages.ts'

/** What `new Auth()` of `@langchain/langgraph-sdk/auth` holds: there is no other way to its handlers. */
const HANDLERS = '~handlerCache'

type Handler = (asked: object) => unknown

interface Handlers {
  authenticate?: (request: Request) => unknown
  callbacks?: Record<string, Handler>
}

/** The life of the process that runs a deployment's auth file, until the server goes away. */
export function serveUserAuth(): void {
  let handlers: Handlers = {}
  const channel: Channel<FromUserAuth> = openChannel<ToUserAuth, FromUserAuth>(
    openServerSocket(),
    ({ head }) => {
      if (head.type !== 'open') return void answer(channel, handlers, head)
      open(head).then(
        (found) => {
          handlers = found
          channel.send({ type: 'opened' })
        },
        (error: unknown) => channel.send({ type: 'failed', message: messageOf(error) }),
      )
    },
  )
  installGraphLogger((line) => channel.send({ type: 'log', ...line }))
}

async function open({ file, export: name }: Extract<ToUserAuth, { type: 'open' }>): Promise<Handlers> {
  await prepareLoader([file])
  const auth = (await loadExport(file, name)) as { [HANDLERS]?: Handlers } | null
  const handlers = typeof auth === 'object' ? auth?.[HANDLERS] : undefined
  if (handlers !== undefined) return handlers
  throw new AppError('config_invalid', {
    message: `The export "${name}" of ${file} is no Auth of @langchain/langgraph-sdk/auth.`,
  })
}

async function answer(
  channel: Channel<FromUserAuth>,
  handlers: Handlers,
  asked: Exclude<ToUserAuth, { type: 'open' }>,
): Promise<void> {
  const { id } = asked
  try {
    if (asked.type === 'authenticate') {
      channel.send({ type: 'user', id, user: await authenticate(handlers, asked.request) })
    } else channel.send({ type: 'answer', id, ...(await ask(handlers, asked)) })
  } catch (error) {
    channel.send({ type: 'refused', id, ...refusalOf(error) })
  }
}

async function authenticate(handlers: Handlers, request: RequestHead): Promise<AccessUser | null> {
  if (handlers.authenticate === undefined) return null
  const { url, method, headers } = request
  const said = await handlers.authenticate(new Request(url, { method, headers }))
  if (said === null || said === undefined || said === false) return null
  if (typeof said === 'string') return userOf({ identity: said })
  if (isObject(said) && typeof said['identity'] === 'string') {
    return said['is_authenticated'] === false ? null : userOf(said)
  }
  throw new Error('authenticate() must return a text, or an object with the text "identity".')
}

function userOf(said: JsonObject): AccessUser {
  const { permissions, display_name } = said
  const identity = String(said['identity'])
  return {
    ...said,
    identity,
    display_name: typeof display_name === 'string' ? display_name : identity,
    is_authenticated: true,
    permissions: Array.isArray(permissions) ? permissions.map(String) : [],
  }
}

async function ask(
  { callbacks = {} }: Handlers,
  { user, event, value }: Extract<ToUserAuth, { type: 'ask' }>,
): Promise<{ filter: JsonObject | null; value: JsonObject }> {
  const [resource = '', action = ''] = event.split(':')
  const name = [event, resource, `*:${action}`, '*'].find((key) => Object.hasOwn(callbacks, key))
  const handler = name === undefined ? undefined : callbacks[name]
  if (handler === undefined) return { filter: null, value }
  const said = await handler({ event, resource, action, value, permissions: user.permissions, user })
  if (said === null || said === undefined || said === true) return { filter: null, value }
  if (said === false) throw new AppError('forbidden')
  if (isObject(said)) return { filter: said, value }
  throw new Error(`The handler of ${name} must return a filter, a boolean or nothing.`)
}

/** What handlers throw as `HTTPException`, in our codes; what they did not mean to throw is their fault, not the caller's. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  422: 'invalid_request',
  429: 'rate_limited',
  503: 'auth_unavailable',
}

function refusalOf(error: unknown): { code: ErrorCode; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message }
  const status = isHttpException(error) ? error.status : 500
  const code = CODES[status] ?? (status < 500 ? 'forbidden' : 'auth_failed')
  // The server logs what its processes write here.
  if (code === 'auth_failed') process.stderr.write(`${inspect(error)}\n`)
  return { code, message: code === 'auth_failed' ? new AppError(code).message : messageOf(error) }
}

function isHttpException(error: unknown): error is Error & { status: number } {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
