import { AppError } from '../../base/errors.ts'
import { isObject } from '../../schema/json.ts'
import { findTarget, type Target, type TargetFlags } from './find-target.ts'

export interface ApiCall {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body?: unknown
}

/** An API of one server. Rejects with an AppError that contains the server's message. */
export interface ApiClient {
  readonly url: string
  /** `path` as in the API's description, with its query. */
  text(path: string, call?: ApiCall): Promise<string>
  /** As `text`, but parsed as JSON; the type is not checked. */
  json<T>(path: string, call?: ApiCall): Promise<T>
  /**
   * Returns the response as soon as it begins, without a time limit; an abort of `signal` ends it. Rejects only for a
   * refusal, or if there is no response.
   */
  open(path: string, call: ApiCall, signal: AbortSignal): Promise<Response>
}

/** The server refused the request. A retry would be refused too, unless `answered` is 429 or at least 500. */
export class Refusal extends AppError {
  /** HTTP status. */
  readonly answered: number
  /** Code of the server's error (docs/api/errors.md); undefined if the body of its response has none. */
  readonly answeredCode: string | undefined

  constructor(status: number, message: string, code?: string) {
    super('invalid_request', { message })
    this.answered = status
    this.answeredCode = code
  }
}

/** Whether the error is a 404: the record does not exist, or was deleted. */
export function isGone(error: unknown): boolean {
  return error instanceof Refusal && error.answered === 404
}

const TIMEOUT_MS = 60_000
/** Error codes of OpenSSL: the server does not use TLS, or Node does not trust its certificate. */
const NO_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/
const IS_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/

/** A client for the platform API of the server that `findTarget` finds; it sends no request yet. */
export async function connectApi(flags: TargetFlags & { tenant?: string | undefined }): Promise<ApiClient> {
  return connectTarget(await findTarget('platform', flags), flags.tenant)
}

/** As `connectApi`, for a server that was already found. */
export function connectTarget(target: Target, tenant: string | undefined): ApiClient {
  return clientOf(target, '/api/v1', tenant === undefined ? {} : { 'x-tenant-id': tenant })
}

/** As `connectApi`, for the API of a deployment. */
export async function connectDeployment(flags: TargetFlags): Promise<ApiClient> {
  return clientOf(await findTarget('deployment', flags), '', {})
}

function clientOf(target: Target, prefix: string, tenant: Readonly<Record<string, string>>): ApiClient {
  const { key } = target
  const identity = { ...tenant, ...(key !== undefined && { 'x-api-key': key }) }
  let proof: Promise<void> | undefined
  const open: ApiClient['open'] = async (path, { method = 'GET', headers, body }, signal) => {
    await (proof ??= assertMayGetKey(target, prefix))
    const response = await send(target, `${prefix}${path}`, {
      method,
      headers: { ...identity, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    })
    if (response.ok) return response
    if (response.status === 401) throw new Refusal(401, keyRefusal(target))
    const answer = await response.text()
    throw new Refusal(response.status, refusal(target, response.status, answer), codeIn(answer))
  }
  const text = async (path: string, call: ApiCall = {}): Promise<string> =>
    (await open(path, call, AbortSignal.timeout(TIMEOUT_MS))).text()
  return {
    url: target.url,
    open,
    text,
    async json<T>(path: string, call?: ApiCall) {
      return JSON.parse(await text(path, call)) as T
    },
  }
}

/**
 * The stored key is sent to the server that runs on DATA_DIR. Another server on this machine gets the key
 * only if that server is Weir: many shells set PORT for other programs.
 */
async function assertMayGetKey(target: Target, prefix: string): Promise<void> {
  const { url, urlSource, keySource, keyFile } = target
  if (urlSource === undefined || keySource === undefined || keySource !== keyFile) return
  const response = await send(target, `${prefix}/info`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const answer: unknown = await response.json().catch(() => undefined)
  if (isObject(answer) && isObject(answer['weir'])) return
  throw new AppError('invalid_request', {
    message: `What listens at ${url} (${urlSource}) is not Weir, so the key in ${keyFile} was not sent to it. Name the address that the server printed when it started; without ${urlSource}, the server that runs on DATA_DIR is called.${movedText(target)}`,
  })
}

async function send(target: Target, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${target.url}${path}`, init)
  } catch (cause) {
    throw new AppError('invalid_request', { message: noAnswerText(target, cause), cause })
  }
}

/** The hint that the server of DATA_DIR has another address than the used one; '' if no other address is known. */
function movedText({ urlSource, movedTo }: Target): string {
  if (urlSource === undefined || movedTo === undefined) return ''
  const isVariable = !urlSource.startsWith('-')
  const source = isVariable
    ? `${urlSource} holds another address, perhaps that of an earlier start`
    : `${urlSource} names another address`
  const mend = isVariable ? `unset ${urlSource}, or set it to that address` : `leave ${urlSource} out`
  return ` The server that runs on DATA_DIR listens at ${movedTo}. ${source}: ${mend}.`
}

function noAnswerText(target: Target, thrown: unknown): string {
  const { url, urlSource = '-' } = target
  if (!(thrown instanceof Error)) return String(thrown)
  if (thrown.name === 'TimeoutError')
    return `The server at ${url} did not answer within ${TIMEOUT_MS / 1000} s. Try again.`
  const { code = '' } = (thrown.cause ?? {}) as NodeJS.ErrnoException
  if (NO_TLS.test(code))
    return `What listens at ${url} does not speak https. Name it with http: ${url.replace(/^https/, 'http')}.`
  if (IS_CERTIFICATE.test(code))
    return `The certificate of ${url} is not trusted (${code}). NODE_EXTRA_CA_CERTS names a file with that of its authority.`
  const source = urlSource.startsWith('-') ? '' : ` (${urlSource})`
  const moved = movedText(target)
  const start = ' Start it with npm start, or name another address with --url.'
  return `No server answers at ${url}${source}.${moved === '' ? start : moved}`
}

/** The message for a 401: the refused key, and how to get a valid one. */
function keyRefusal(target: Target): string {
  return `${keyRefusalText(target)}${movedText(target)}`
}

function keyRefusalText({ url, keySource, keyFile, isLogin, keyFlag = '--key' }: Target): string {
  const another = `Give a key with ${keyFlag} or WEIR_API_KEY.`
  if (keySource === undefined) {
    const none = keyFile === undefined ? '' : `, and there is none in ${keyFile}`
    return `The server at ${url} requires an API key${none} (401). ${another}`
  }
  const refused = `The server at ${url} refused the key ${keySource === keyFile ? 'in' : 'of'} ${keySource} (401)`
  if (isLogin === true)
    return `${refused}: it was revoked, or you are a member no more. Run weir login again.`
  if (keySource !== keyFile)
    return `${refused}. Create one with weir keys create; the first one is in DATA_DIR/api-key.`
  return `${refused}: it was revoked, or belongs to another data directory. ${another} If no admin key is left, restart the server: it creates one and writes it to ${keyFile}.`
}

function refusal(target: Target, status: number, answer: string): string {
  return refusalText(status, answer) ?? `The server at ${target.url} answered ${status}.${movedText(target)}`
}

function codeIn(answer: string): string | undefined {
  try {
    const { code } = JSON.parse(answer) as { code?: unknown }
    return typeof code === 'string' ? code : undefined
  } catch {
    // The body is not JSON.
    return undefined
  }
}

/** The server's message in one line; undefined if the body of its response has none. */
export function refusalText(status: number, answer: string): string | undefined {
  try {
    const { detail } = JSON.parse(answer) as { detail?: unknown }
    if (typeof detail === 'string') return `${detail} (${status})`
    if (Array.isArray(detail)) {
      const faults = (detail as { loc?: unknown[]; msg?: string }[]).map(
        ({ loc = [], msg }) => `${loc.slice(1).join('.')}: ${msg}`,
      )
      return `${faults.join('; ')} (${status})`
    }
  } catch {
    // The body is not JSON, for example the error page of a proxy.
  }
  return undefined
}
