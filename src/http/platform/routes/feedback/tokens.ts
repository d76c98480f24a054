import { hash } from 'node:crypto'
import { AppError } from '../../../../base/errors.ts'
import { newUuid, parseUuid } from '../../../../base/ids.ts'
import type { FeedbackToken } from '../../../../ingest/feedback/token-store.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { parseTime } from '../../../../trace/derive/time.ts'
import { partQuery, textParameter, uuidParameter } from '../../../api/parameters.ts'
import { defined } from '../../request/body-fields.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import { type PlatformContext, type PlatformRoute, route } from '../../route.ts'
import { bodyFault } from '../../../body/json.ts'
import { NOBODY } from '../../../server/dispatch.ts'
import { STORE_FEEDBACK_ERRORS, storeFeedback } from './store-feedback.ts'

const TAG = 'Feedback'
const MINUTE_MS = 60_000
const DEFAULT_MINUTES = 180
const MAX_DAYS = 366

type TokenBody = Extract<SchemaTypes['feedback-token-create'], { run_id: string }>

/** Expiry time of the token, epoch milliseconds. */
function expiryOf({ expires_in, expires_at }: TokenBody, now: number): number {
  const latest = now + MAX_DAYS * 24 * 60 * MINUTE_MS
  const { days = 0, hours = 0, minutes = 0 } = expires_in ?? { minutes: DEFAULT_MINUTES }
  const micros = expires_at === undefined || expires_at === null ? undefined : parseTime(expires_at)
  const at = micros === undefined ? now + ((days * 24 + hours) * 60 + minutes) * MINUTE_MS : micros / 1000
  if (at > now && at <= latest) return Math.floor(at)
  const path = micros === undefined ? 'expires_in' : 'expires_at'
  const message = `must be in the future, at most ${MAX_DAYS} days away`
  throw bodyFault([{ code: 'value_error', path, message }])
}

function hashOf(token: string): string {
  return hash('sha256', token, 'hex')
}

/** The response about one token. Its id is the token, as clients of LangSmith expect. */
function toAnswer({ id, feedback_key, expires_at }: FeedbackToken, base: string) {
  const url = `${base}/api/v1/feedback/tokens/${id}`
  return { id, url, expires_at: new Date(expires_at).toISOString(), feedback_key }
}

async function create(
  { deps, principal, req }: Pick<PlatformContext, 'deps' | 'principal' | 'req'>,
  bodies: readonly TokenBody[],
): Promise<SchemaTypes['feedback-token'][]> {
  const now = deps.clock.now()
  const made = bodies.map((body) => {
    const id = parseUuid(body.id) ?? newUuid()
    return {
      token_hash: hashOf(id),
      workspace_id: principal.workspace_id,
      id,
      run_id: parseUuid(body.run_id) ?? '',
      feedback_key: body.feedback_key,
      feedback_config: (body.feedback_config ?? null) as JsonObject | null,
      expires_at: expiryOf(body, now),
      created_at: now,
    }
  })
  await deps.feedback.tokens.add(made)
  return made.map((one) => toAnswer(one, ownAddress(deps, req)))
}

/** The parts that both ways of using a token share. */
const GIVING = {
  path: '/feedback/tokens/{token}',
  needs: 'open',
  tag: TAG,
  any_origin: true,
  params: { token: uuidParameter('The last part of the URL that was given out.') },
  reply: 'empty-object',
  errors: ['not_found', 'rate_limited', ...STORE_FEEDBACK_ERRORS],
} as const

/** Stores feedback with a token. @throws AppError not_found, rate_limited, the reasons of ingest */
async function giveFeedback(
  { deps, req: { headers } }: Pick<PlatformContext, 'deps' | 'req'>,
  token: string,
  body: SchemaTypes['feedback-by-token'],
): Promise<void> {
  const known = await deps.feedback.tokens.find(hashOf(token), deps.clock.now())
  if (known === undefined)
    throw new AppError('not_found', { message: 'There is no such token, or it has expired.' })
  deps.feedback.tokenLimit.take(known.id)
  const { run_id, feedback_key: key, feedback_config, workspace_id } = known
  const { score = null, value = null, correction = null, comment = null, metadata = null } = body
  const feedback_source = { type: 'presigned', ...(metadata !== null && { metadata }) }
  const judged = { run_id, key, score, value, correction, comment, feedback_source }
  const record = { ...judged, ...(feedback_config !== null && { feedback_config }) }
  await storeFeedback(record, { deps, principal: { ...NOBODY, workspace_id }, headers })
}

/** A value of a link: a number or true or false if it reads like one, else text. */
function linkValue(text: string | undefined): number | boolean | string | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== undefined && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** @throws AppError invalid_request for a score that is neither a number nor true or false */
function linkScore(text: string | undefined): number | boolean | undefined {
  const score = linkValue(text)
  if (typeof score !== 'string') return score
  const fault = { loc: ['query', 'score'], msg: 'must be a number, true or false', type: 'invalid_score' }
  throw new AppError('invalid_request', { details: [fault] })
}

function givingRoutes(): PlatformRoute[] {
  return [
    route({
      ...GIVING,
      method: 'POST',
      summary: 'Create feedback on a run with a token instead of a key',
      description: 'Pages of any site may call it. A token is valid for 60 calls a minute until it expires.',
      body: 'feedback-by-token',
      async handle({ deps, req, params: { token }, body }) {
        await giveFeedback({ deps, req }, token, body)
        return { body: {} }
      },
    }),
    route({
      ...GIVING,
      method: 'GET',
      summary: 'Create feedback on a run with a link, e.g. in a mail',
      description: 'Each GET creates feedback, also that of a program that opens links in advance.',
      query: {
        score: textParameter('A number, true or false.'),
        value: textParameter('A number, true, false or a text.'),
        correction: textParameter('The right answer.'),
        comment: textParameter('A remark.'),
      },
      async handle({ deps, req, params: { token }, query: { score, value, ...texts } }) {
        const body = { ...texts, score: linkScore(score), value: linkValue(value) }
        if (req.method !== 'HEAD') await giveFeedback({ deps, req }, token, defined(body))
        return { headers: { 'cache-control': 'no-store' }, body: {} }
      },
    }),
  ]
}

/** Tokens with which people without a key may send feedback on one run. */
export function feedbackTokenRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/feedback/tokens',
      needs: 'runs:create',
      summary: 'Create a URL for feedback of one key on one run, without an API key',
      description: 'An array of bodies gets an array. The id is the token: whoever has it can send feedback.',
      tag: TAG,
      body: 'feedback-token-create',
      reply: 'feedback-token-created',
      errors: ['conflict', 'quota_reached'],
      async handle(context) {
        const { body } = context
        if (Array.isArray(body)) return { body: await create(context, body) }
        const [made] = await create(context, [body])
        return { body: made! }
      },
    }),
    route({
      method: 'GET',
      path: '/feedback/tokens',
      needs: 'runs:create',
      summary: 'List the tokens of a run that have not expired, newest first',
      tag: TAG,
      query: {
        run_id: uuidParameter('The run.'),
        ...partQuery(100),
      },
      reply: 'feedback-token-list',
      async handle({ deps, principal, req, query: { run_id, ...page } }) {
        const { tokens } = deps.feedback
        const found = await tokens.list(principal.workspace_id, run_id, { ...page, now: deps.clock.now() })
        return { body: found.map((token) => toAnswer(token, ownAddress(deps, req))) }
      },
    }),
    ...givingRoutes(),
  ]
}
