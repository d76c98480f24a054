import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Counter, Metrics } from '../base/metrics.ts'
import type { Run } from './model.ts'
import { createPublicAddressCheck, PrivateAddressError, publicLookup } from './public-address.ts'
import { webhookBody } from './run-json.ts'

export interface WebhookOptions {
  /** `whsec_` and base64, or any text. */
  secret: string
  /** Also call addresses that are not public. */
  allowPrivate: boolean
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Milliseconds; default 20,000. */
  timeoutMs?: number
  /** Pauses between the tries, milliseconds; default 1 s, 5 s, 30 s and 2 min. */
  pausesMs?: readonly number[]
}

/** Calls the webhooks of runs that have ended. */
export interface Webhooks {
  /** Tells the run's webhook, if it has one, now or a few tries later; never throws. */
  send(run: Run, values_json: string | null): void
  /** Gives up what has not been told. */
  stop(): Promise<void>
}

const TIMEOUT_MS = 20_000
const PAUSES_MS = [1_000, 5_000, 30_000, 120_000]
/** More are dropped: a receiver that does not answer must not fill the memory. */
const MAX_WAITING = 10_000
const SECRET_PREFIX = 'whsec_'

/**
 * The headers of the Standard Webhooks specification: a receiver checks HMAC-SHA256 over `id.timestamp.body`. The id
 * is the run's, the same with each try.
 */
export function signedHeaders(secret: string, id: string, ms: number, body: string): Record<string, string> {
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

export function createWebhooks(options: WebhookOptions): Webhooks {
  const { clock, logger, secret, pausesMs = PAUSES_MS } = options
  const outcomes = options.metrics.counter('weir_webhooks_total', 'Webhooks by what became of them.')
  const post = createPost(options)
  const stopped = new AbortController()
  const waiting = new Set<Promise<void>>()

  async function tell(url: string, run: Run, values_json: string | null): Promise<void> {
    for (const pause of [0, ...pausesMs]) {
      if (pause > 0) await delay(pause * (0.75 + Math.random() / 2), undefined, { signal: stopped.signal })
      const now = clock.now()
      const body = webhookBody(run, values_json, now)
      const answer = await post(url, body, signedHeaders(secret, run.run_id, now, body), stopped.signal)
      if (answer === 'taken') return outcomes.inc({ outcome: 'delivered' })
      if (answer === 'refused') return giveUp(outcomes, logger, run, 'refused')
    }
    giveUp(outcomes, logger, run, 'failed')
  }

  return {
    send(run, values_json) {
      const url = run.kwargs.webhook
      if (url === null || stopped.signal.aborted) return
      if (waiting.size >= MAX_WAITING) return giveUp(outcomes, logger, run, 'dropped')
      const telling = tell(url, run, values_json)
        .catch(() => giveUp(outcomes, logger, run, 'stopped'))
        .finally(() => waiting.delete(telling))
      waiting.add(telling)
    },
    async stop() {
      stopped.abort()
      await Promise.all(waiting)
    },
  }
}

function giveUp(outcomes: Counter, logger: Logger, { run_id }: Run, outcome: string): void {
  outcomes.inc({ outcome })
  logger.warn({ run_id, outcome }, 'a webhook was not told')
}

/** `taken` is a 2xx, `refused` will be so forever, `failed` may pass. */
type Answer = 'taken' | 'refused' | 'failed'

type Post = (
  url: string,
  body: string,
  headers: Record<string, string>,
  signal: AbortSignal,
) => Promise<Answer>

/** One try. Redirects are not followed: they would lead where nobody has looked. */
function createPost({ allowPrivate, timeoutMs = TIMEOUT_MS }: WebhookOptions): Post {
  const isPublic = createPublicAddressCheck()
  const lookup = allowPrivate ? undefined : publicLookup(isPublic)
  return (text, body, headers, stopped) => {
    const url = new URL(text)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (!allowPrivate && isIP(host) !== 0 && !isPublic(host)) return Promise.resolve('refused')
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)])
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        {
          method: 'POST',
          headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
          signal,
          agent: false,
          ...(lookup !== undefined && { lookup }),
        },
        ({ statusCode = 0 }) => {
          resolve(statusCode >= 200 && statusCode < 300 ? 'taken' : statusCode === 410 ? 'refused' : 'failed')
          // Nobody reads the answer: its connection is not kept.
          sent.destroy()
        },
      )
      sent.on('error', (error) => {
        if (stopped.aborted) reject(error)
        else resolve(error instanceof PrivateAddressError ? 'refused' : 'failed')
      })
      sent.end(body)
    })
  }
}
