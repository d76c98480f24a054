import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { AppError } from '../base/errors.ts'
import { request as httpRequest } from '../base/node/http.ts'
import { createPublicAddressCheck, PrivateAddressError, publicLookup } from '../base/node/public-address.ts'
import { isObject, type JsonValue, text } from '../schema/json.ts'
import type { VendorRequest } from './providers/provider.ts'

/** Calls model providers over HTTP. */
export interface VendorCaller {
  /**
   * Returns the bytes of the answer as they arrive. Redirects are not followed, because their target may not be one of
   * the secret's hosts. `secret` is removed from the messages of errors. @throws AppError, also while bytes are read:
   * provider_failed for an unsuccessful answer, or a connection that fails or sends nothing for too long;
   * host_not_allowed for an address that is not public
   */
  call(target: VendorTarget, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

export interface VendorTarget extends VendorRequest {
  base_url: URL
  secret: string
}

export interface VendorCallerOptions {
  /** Whether addresses that are not public may be called, and `http:` may be used. */
  allowPrivate: boolean
  /** Maximum milliseconds without a byte; default 2 minutes, since reasoning models send nothing for some time. */
  idle_ms?: number
}

const IDLE_MS = 120_000
const MAX_ANSWER_BYTES = 32 << 20
/** Maximum bytes that are read of an unsuccessful answer. */
const MAX_PROBLEM_BYTES = 64 << 10
const MAX_PROBLEM_CHARS = 2_000

/** The host of a URL, such as `api.openai.com`, with the port unless it is the standard one. */
export function hostOf(url: URL): string {
  return url.host.toLowerCase()
}

/**
 * Parses the address of a provider's API from a call. @throws AppError invalid_request if it is not an http(s) URL, or
 * has a user, query or fragment
 */
export function parseBaseUrl(sent: string): URL {
  const url = URL.canParse(sent) ? new URL(sent) : undefined
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url
  const msg = 'must be an http or https URL without user, query and fragment'
  throw new AppError('invalid_request', {
    details: [{ loc: ['body', 'base_url'], msg, type: 'value_error' }],
  })
}

export function createVendorCaller({ allowPrivate, idle_ms = IDLE_MS }: VendorCallerOptions): VendorCaller {
  const isPublic = createPublicAddressCheck()
  const lookup = allowPrivate ? undefined : publicLookup(isPublic)

  function assertAllowed(url: URL): void {
    if (allowPrivate) return
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const isPrivate = isIP(host) !== 0 && !isPublic(host)
    if (url.protocol === 'http:' || isPrivate) throw notPublic(url)
  }

  return {
    async call({ base_url, path, headers, body, secret }, signal) {
      assertAllowed(base_url)
      const url = new URL(base_url.href.replace(/\/$/, '') + path)
      const json = JSON.stringify(body)
      const options: RequestOptions = {
        ...urlToHttpOptions(url),
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          accept: 'text/event-stream',
          'user-agent': 'weir-playground',
          'content-length': String(Buffer.byteLength(json)),
        },
        timeout: idle_ms,
        agent: false,
        signal,
        ...(lookup !== undefined && { lookup }),
      }
      try {
        const answer = await send(options, json)
        if (answer.statusCode !== 200) throw await refusal(answer, secret)
        return bounded(answer)
      } catch (error) {
        throw explained(error, url)
      }
    },
  }
}

function notPublic(url: URL): AppError {
  return new AppError('host_not_allowed', {
    message: `${hostOf(url)} is not called: its address is not public, or not https. An administrator can allow it with PLAYGROUND_PRIVATE_ADDRESSES=on.`,
    details: { host: hostOf(url) },
  })
}

function explained(error: unknown, url: URL): unknown {
  if (error instanceof AppError) return error
  if (error instanceof PrivateAddressError) return notPublic(url)
  const reason = error instanceof Error ? error.message : String(error)
  return new AppError('provider_failed', {
    message: `${hostOf(url)} did not answer: ${reason}`,
    cause: error,
  })
}

function send(options: RequestOptions, json: string): Promise<IncomingMessage> {
  const request = options.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const sent = request(options, resolve)
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error('no byte arrived for too long')))
    // A switch to another protocol closes the request, and is neither a response nor an error.
    sent.on('close', () => reject(new Error('the connection was closed')))
    sent.end(json)
  })
}

async function* bounded(answer: IncomingMessage): AsyncIterable<Uint8Array> {
  let size = 0
  try {
    for await (const bytes of answer as AsyncIterable<Uint8Array>) {
      size += bytes.length
      if (size > MAX_ANSWER_BYTES)
        throw new AppError('provider_failed', { message: 'The answer is larger than 32 MiB.' })
      yield bytes
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('provider_failed', { message: 'The answer broke off.', cause: error })
  }
}

/** The error for an unsuccessful answer, with the provider's own words. */
async function refusal(answer: IncomingMessage, secret: string): Promise<AppError> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const bytes of answer as AsyncIterable<Uint8Array>) {
    chunks.push(bytes)
    size += bytes.length
    if (size > MAX_PROBLEM_BYTES) break
  }
  answer.destroy()
  const status = answer.statusCode ?? 0
  const said = problemText(Buffer.concat(chunks).toString('utf8')).replaceAll(secret, '***')
  return new AppError('provider_failed', {
    message: `The provider answered with status ${status}: ${said.slice(0, MAX_PROBLEM_CHARS) || 'without a reason'}`,
    details: { status },
  })
}

/** The message in a body: `{"error": {"message": …}}`, in a list from Gemini, or `{"error": "…"}` from Ollama. */
function problemText(body: string): string {
  try {
    const parsed = JSON.parse(body) as JsonValue
    const first = Array.isArray(parsed) ? parsed[0] : parsed
    const error = isObject(first) ? (first['error'] ?? first) : first
    return (isObject(error) ? text(error['message']) : text(error)) ?? body
  } catch {
    return body
  }
}
