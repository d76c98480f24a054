import { inspect } from 'node:util'
import { AppError, type ErrorCode } from '../../base/errors.ts'
import { isDeeperThan } from '../../base/text/json-depth.ts'
import type { AccessUser } from '../../runs/model.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import { type Channel, openChannel } from '../pool/channel.ts'
import { handlerOf } from './handler-of.ts'
import { installGraphLogger } from '../host/logger.ts'
import { openServerSocket } from '../pool/vitals.ts'
import { loadExport, prepareLoader } from '../host/load-graphs.ts'
import type { FromUserAuth, AuthRequest, ToUserAuth } from './messages.ts'

/** Property with the handlers of an `Auth` of `@langchain/langgraph-sdk/auth`. There is no public access to them. */
const HANDLERS = '~handlerCache'

type Handler = (asked: object) => unknown

interface Handlers {
  authenticate?: (request: Request) => unknown
  callbacks?: Record<string, Handler>
}

/** Runs a deployment's auth file in this process, until the server exits. */
export function serveUserAuth(): void {
  let handlers: Handlers = {}
  const channel: Channel<FromUserAuth> = openChannel<ToUserAuth, FromUserAuth>(
    openServerSocket(),
    ({ head }) => {
      if (head.type !== 'open') return void answer(channel, handlers, head)
      open(head).then(
        (found) => {
          handlers = found
          channel.send({ type: 'opened', handlers: Object.keys(found.callbacks ?? {}) })
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
    } else sendAnswer(channel, id, await ask(handlers, asked))
  } catch (error) {
    channel.send({ type: 'refused', id, ...refusalOf(error) })
  }
}

async function authenticate(handlers: Handlers, request: AuthRequest): Promise<AccessUser | null> {
  if (handlers.authenticate === undefined) return null
  const { url, method, headers } = request
  const result = await handlers.authenticate(new Request(url, { method, headers }))
  if (result === null || result === undefined || result === false) return null
  if (typeof result === 'string') return userOf({ identity: result })
  if (isObject(result) && typeof result['identity'] === 'string') {
    return result['is_authenticated'] === false ? null : userOf(result)
  }
  throw new Error('authenticate() must return a text, or an object with the text "identity".')
}

/** Maximum size of a user as JSON. It is limited because the user is stored with every run and parsed by the server. */
const MAX_USER_CHARS = 65_536

function userOf(result: JsonObject): AccessUser {
  const { permissions, display_name } = result
  const identity = String(result['identity'])
  const { length } = JSON.stringify(result)
  if (length > MAX_USER_CHARS)
    throw new Error(
      `authenticate() must return less than ${MAX_USER_CHARS} characters of JSON, not ${length}.`,
    )
  return {
    ...result,
    identity,
    display_name: typeof display_name === 'string' ? display_name : identity,
    is_authenticated: true,
    permissions: Array.isArray(permissions) ? permissions.map(String) : [],
  }
}

async function ask(
  { callbacks = {} }: Handlers,
  { user, event, value }: Extract<ToUserAuth, { type: 'ask' }>,
): Promise<{ filter: JsonObject | null; changed: Map<string, string> }> {
  const name = handlerOf(new Set(Object.keys(callbacks)), event)
  const handler = name === undefined ? undefined : callbacks[name]
  if (handler === undefined) return { filter: null, changed: new Map() }
  const [resource = '', action = ''] = event.split(':')
  const before = fieldTexts(event, value)
  const result = await handler({ event, resource, action, value, permissions: user.permissions, user })
  if (result === false) throw new AppError('forbidden')
  const isFilter = isObject(result)
  if (!isFilter && result !== null && result !== undefined && result !== true)
    throw new Error(`The handler of ${name} must return a filter, a boolean or nothing.`)
  const after = [...fieldTexts(event, value)]
  const changed = new Map(after.filter(([field, text]) => text !== before.get(field)))
  return { filter: isFilter ? result : null, changed }
}

/**
 * The fields that a handler can change, for each event with a restriction. For a new run only its metadata can change,
 * because the input may be large.
 */
const CHANGEABLE: Readonly<Record<string, readonly string[]>> = { 'threads:create_run': ['metadata'] }

/** The fields of a value that a handler may change, as JSON texts. They are compared before and after the call. */
function fieldTexts(event: string, value: JsonObject): Map<string, string> {
  const fields = CHANGEABLE[event] ?? Object.keys(value)
  return new Map(fields.map((field) => [field, JSON.stringify(value[field]) ?? 'null']))
}

/** The field that is sent as a separate part, because the server does not parse the value of an item. */
const IN_PART = 'value'

/** Maximum nesting of a field. The server ends a process whose messages are nested much deeper. */
const MAX_DEPTH = 900

function sendAnswer(
  channel: Channel<FromUserAuth>,
  id: number,
  { filter, changed }: { filter: JsonObject | null; changed: Map<string, string> },
): void {
  const part = changed.get(IN_PART)
  changed.delete(IN_PART)
  if ([...changed.values()].some((text) => isDeeperThan(MAX_DEPTH, Buffer.from(text))))
    throw new AppError('invalid_request', { message: 'The request is nested too deeply for the auth file.' })
  const value = Object.fromEntries([...changed].map(([field, text]) => [field, parseExact(text)]))
  const head = { type: 'answer', id, filter, value } as const
  if (part === undefined) channel.send(head)
  else channel.send({ ...head, in_part: IN_PART }, [part])
}

/** Weir's codes for the status of a handler's `HTTPException`. Other errors count as faults of the handler. */
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
  // The server logs the stderr of this process.
  if (code === 'auth_failed') process.stderr.write(`${inspect(error)}\n`)
  return { code, message: code === 'auth_failed' ? new AppError(code).message : messageOf(error) }
}

function isHttpException(error: unknown): error is Error & { status: number } {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
