import { createHmac } from 'node:crypto'
import type { RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { request as httpRequest } from '../../base/node/http.ts'
import { WEBHOOK_HEADER } from '../../base/app-headers.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import { createDueTimer } from '../execute/due-timer.ts'
import {
  createPublicAddressCheck,
  PrivateAddressError,
  publicLookup,
} from '../../base/node/public-address.ts'
import { type WebhookRules, webhookTarget } from './rules.ts'
import type { WebhookLease } from './store.ts'

/** A request to make about something that has happened. */
export interface Delivery {
  url: string
  /** Number of failed attempts. */
  tries: number
  /** Time from which another process may take it. */
  due_at: number
}

/** What became of a delivery that is not tried again. */
export type DeliveryOutcome = 'delivered' | 'refused' | 'failed'

export interface DeliveryStore<D extends Delivery> {
  /** Takes due ones, the longest overdue first: they belong to `owner` for `lease_ms`. */
  take(limit: number, lease: WebhookLease): Promise<D[]>
  /**
   * Makes those due again that an earlier process of this instance had taken. Must be called before the first `take`.
   */
  recover(owner: string): Promise<void>
  remove(delivery: D, outcome: DeliveryOutcome): Promise<void>
  /** Delays the next attempt, unless another process has taken the delivery meanwhile. */
  putOff(delivery: D, due_at: number, tries: number): Promise<void>
  /** The time of the next due one; for one that another process has taken, the end of its lease. */
  nextDue(): Promise<number | undefined>
}

export interface DeliveryOptions<D extends Delivery> {
  store: DeliveryStore<D>
  /** The body, and an id that is the same at each attempt. `now` in epoch milliseconds. */
  message(delivery: D, now: number): { id: string; body: string }
  /** What the log says of a delivery. */
  about(delivery: D): object
  /** Id of the instance, as `Claimer.owner`. */
  owner: string
  /**
   * Whether this sender takes over, at its start, the deliveries that earlier processes of this instance had taken. Must
   * be false while another sender of this instance may still deliver them. Default true.
   */
  recovers?: boolean
  /** `whsec_` and base64, or any text. */
  secret: string
  rules: WebhookRules
  /** Whether webhooks may also call addresses that are not public. */
  allowPrivate: boolean
  /** Resolves with the Unix socket of the deployment's HTTP app, for webhooks whose URL is a path. */
  appSocket?: (() => Promise<string>) | undefined
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Milliseconds; default 20,000. */
  timeoutMs?: number
  /** Pauses between the attempts, milliseconds; default 1 s, 5 s, 30 s, 2 min, 10 min and 30 min. */
  pausesMs?: readonly number[]
}

/** Deliveries under way, also of what earlier processes left. */
export interface Deliveries {
  /** Requests a look for due deliveries. */
  ask(): void
  /** Stops delivery; what is being delivered is tried again after the next start. */
  stop(): Promise<void>
}

const TIMEOUT_MS = 20_000
const PAUSES_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000]
/**
 * Maximum number of webhooks in delivery at a time. There are many, so that receivers that do not answer delay the
 * others only a little.
 */
const AT_ONCE = 64
/**
 * Time between the time limit of an attempt and the end of the lease, after which another process may take the webhook.
 */
const LEASE_RESERVE_MS = 10_000
/** Maximum time between two checks for due webhooks: another process may have delayed a webhook and then ended. */
const MAX_WAIT_MS = 60_000
const SECRET_PREFIX = 'whsec_'

/**
 * The headers of the Standard Webhooks specification: a receiver checks HMAC-SHA256 over `id.timestamp.body`. The id is
 * the same with each attempt.
 */
function signedHeaders(secret: string, id: string, ms: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(ms / 1000))
  const key = secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret)
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'user-agent': 'weir-webhook',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

/** Starts delivery, first of what earlier processes left. */
export function startDeliveries<D extends Delivery>(options: DeliveryOptions<D>): Deliveries {
  const { store, owner, clock, logger, timeoutMs = TIMEOUT_MS } = options
  const send = createSend(options)
  const stopped = new AbortController()
  const underWay = new Set<Promise<void>>()
  let recovered: Promise<void> | undefined = options.recovers === false ? Promise.resolve() : undefined
  /** Whether the last batch was full, so that there may be more webhooks. */
  let isFull = false

  function begin(webhook: D): void {
    const sending = send(webhook, stopped.signal)
      .then((dueAt) => {
        if (dueAt !== undefined) timer.dueAt(dueAt)
      })
      .catch((error: unknown) => {
        // The webhook becomes due again when its lease ends.
        logger.warn({ err: error, ...options.about(webhook) }, 'the result of a webhook was not stored')
      })
      .then(() => {
        underWay.delete(sending)
        if (isFull) timer.ask()
        isFull = false
      })
    underWay.add(sending)
  }

  async function look(): Promise<number | undefined> {
    recovered ??= store.recover(owner).catch((error: unknown) => {
      recovered = undefined
      throw error
    })
    await recovered
    while (underWay.size < AT_ONCE) {
      const lease = { owner, lease_ms: timeoutMs + LEASE_RESERVE_MS }
      const taken = await store.take(AT_ONCE - underWay.size, lease)
      if (taken.length === 0) return store.nextDue()
      for (const webhook of taken) begin(webhook)
    }
    isFull = true
    return undefined
  }

  const timer = createDueTimer({ look, maxWaitMs: MAX_WAIT_MS, clock, logger })
  timer.ask()
  return {
    ask: () => timer.ask(),
    async stop() {
      await timer.stop()
      stopped.abort()
      await Promise.all(underWay)
    },
  }
}

type Send<D> = (webhook: D, stopped: AbortSignal) => Promise<number | undefined>

/** Returns a function that makes one attempt, stores its result and returns the time of the next attempt. */
function createSend<D extends Delivery>(options: DeliveryOptions<D>): Send<D> {
  const { store, clock, logger, secret, rules, pausesMs = PAUSES_MS } = options
  const outcomes = options.metrics.counter('weir_webhooks_total', 'Webhooks by what became of them.')
  const post = createPost(options)

  const end = async (webhook: D, outcome: DeliveryOutcome, reason?: string): Promise<undefined> => {
    await store.remove(webhook, outcome)
    outcomes.inc({ outcome })
    const about = { ...options.about(webhook), outcome, reason, tries: webhook.tries + 1 }
    if (outcome !== 'delivered') logger.warn(about, 'a webhook was not delivered')
  }

  return async (webhook, stopped) => {
    const { url, tries } = webhook
    const now = clock.now()
    const { id, body } = options.message(webhook, now)
    const headers = { ...rules.headers, ...signedHeaders(secret, id, now, body) }
    const answer = isAllowed(url, rules) ? await post(url, body, headers, stopped) : 'disallowed'
    if (answer === 'taken') return end(webhook, 'delivered')
    if (answer === 'stopped') return store.putOff(webhook, clock.now(), tries).then(() => undefined)
    if (answer !== 'failed') return end(webhook, 'refused', REFUSALS[answer])
    const pause = pausesMs[tries]
    if (pause === undefined) return end(webhook, 'failed')
    const next = clock.now() + Math.round(pause * (0.75 + Math.random() / 2))
    await store.putOff(webhook, next, tries + 1)
    return next
  }
}

/** Whether the rules allow the URL now; they may have changed since the run was created. */
function isAllowed(url: string, rules: WebhookRules): boolean {
  try {
    webhookTarget(url, rules)
    return true
  } catch {
    return false
  }
}

/** Reasons for which a webhook is not tried again, for the log. */
const REFUSALS = {
  disallowed: 'langgraph.json does not allow its URL',
  private: 'its address is not public, and WEBHOOK_PRIVATE_ADDRESSES is off',
  gone: 'it was answered with 410',
} as const

/** `taken`: a response with 2xx; `failed`: tried again later; `stopped`: this process stops. The others are final. */
type Answer = 'taken' | keyof typeof REFUSALS | 'failed' | 'stopped'

type Post = (
  url: string,
  body: string,
  headers: Record<string, string>,
  signal: AbortSignal,
) => Promise<Answer>

/** Returns a function that sends one request. Redirects are not followed, because their target has not been checked. */
function createPost({
  allowPrivate,
  appSocket,
  timeoutMs = TIMEOUT_MS,
}: Pick<DeliveryOptions<Delivery>, 'allowPrivate' | 'appSocket' | 'timeoutMs'>): Post {
  const isPublic = createPublicAddressCheck()
  const lookup = allowPrivate ? undefined : publicLookup(isPublic)
  return async (target, body, headers, stopped) => {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)])
    const shared = {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal,
      agent: false,
    }
    if (target.startsWith('/')) {
      const socketPath = await openSocket(appSocket, signal)
      if (socketPath === undefined) return stopped.aborted ? 'stopped' : 'failed'
      const ofApp = { ...shared.headers, host: 'localhost', [WEBHOOK_HEADER]: 'run' }
      return answerTo({ ...shared, socketPath, path: target, headers: ofApp }, body, stopped)
    }
    const url = new URL(target)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (!allowPrivate && isIP(host) !== 0 && !isPublic(host)) return 'private'
    const asked = { ...urlToHttpOptions(url), ...shared, ...(lookup !== undefined && { lookup }) }
    return answerTo(asked, body, stopped)
  }
}

/** Opens the app's socket; undefined if the app cannot be loaded within the time limit of an attempt. */
async function openSocket(
  open: DeliveryOptions<Delivery>['appSocket'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  signal.addEventListener('abort', () => resolve(undefined), { once: true })
  return Promise.race([open?.().catch(() => undefined), late])
}

function answerTo(asked: RequestOptions, body: string, stopped: AbortSignal): Promise<Answer> {
  const request = asked.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve) => {
    const sent = request(asked, ({ statusCode = 0 }) => {
      resolve(statusCode >= 200 && statusCode < 300 ? 'taken' : statusCode === 410 ? 'gone' : 'failed')
      // The body of the response is not read, so the connection cannot be reused.
      sent.destroy()
    })
    sent.on('error', (error) => {
      if (stopped.aborted) resolve('stopped')
      else resolve(error instanceof PrivateAddressError ? 'private' : 'failed')
    })
    // A switch to another protocol (101) emits neither a response nor an error; the request is closed.
    sent.on('close', () => resolve(stopped.aborted ? 'stopped' : 'failed'))
    sent.end(body)
  })
}
