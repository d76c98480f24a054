import { hash } from 'node:crypto'
import { AppError } from '../../../../base/errors.ts'
import { newUuid, parseUuid } from '../../../../base/ids.ts'
import type { FeedbackToken } from '../../../../ingest/feedback/token-store.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { parseTime } from '../../../../trace/derive/time.ts'
import { integerParameter, uuidParameter } from '../../../api/parameters.ts'
import { ownAddress } from '../../request/own-address.ts'
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

/** The response about one token; `token` is the end of its URL. */
function toAnswer({ id, feedback_key, expires_at }: FeedbackToken, token: string, base: string) {
  const url = `${base}/api/v1/feedback/tokens/${token}`
  return { id, url, expires_at: new Date(expires_at).toISOString(), feedback_key }
}

async function create(
  { deps, principal, req }: Pick<PlatformContext, 'deps' | 'principal' | 'req'>,
  bodies: readonly TokenBody[],
): Promise<SchemaTypes['feedback-token'][]> {
  const now = deps.clock.now()
  const made = bodies.map((body) => {
    const token = newUuid()
    return {
      token,
      token_hash: hashOf(token),
      workspace_id: principal.workspace_id,
      id: parseUuid(body.id) ?? newUuid(),
      run_id: parseUuid(body.run_id) ?? '',
      feedback_key: body.feedback_key,
      feedback_config: (body.feedback_config ?? null) as JsonObject | null,
      expires_at: expiryOf(body, now),
      created_at: now,
    }
  })
  await deps.feedback.tokens.add(made)
  return made.map((one) => toAnswer(one, one.token, ownAddress(deps, req)))
}

function useRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/feedback/tokens/{token}',
    summary: 'Create feedback on a run with a token instead of a key',
    description: 'Pages of any site may call it. A token is valid for 60 calls a minute until it expires.',
    tag: TAG,
    any_origin: true,
    params: { token: uuidParameter('The last part of the URL that was given out.') },
    body: 'feedback-by-token',
    reply: 'empty-object',
    errors: ['not_found', 'rate_limited', ...STORE_FEEDBACK_ERRORS],
    async handle({ deps, params: { token }, req: { headers }, body }) {
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
      return { body: {} }
    },
  })
}

/** Tokens with which people without a key may send feedback on one run. */
export function feedbackTokenRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/feedback/tokens',
      summary: 'Create a URL for feedback of one key on one run, without an API key',
      description: 'An array of bodies gets an array. Only this response contains the token.',
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
      summary: 'List the tokens of a run that have not expired, newest first',
      description: 'Tokens are stored as hashes, so each `url` ends with the id of the token in its place.',
      tag: TAG,
      query: {
        run_id: uuidParameter('The run.'),
        limit: integerParameter('Maximum number of records.', { minimum: 1, maximum: 100, otherwise: 100 }),
        offset: integerParameter('Number of records to skip.', {
          minimum: 0,
          maximum: 1_000_000_000,
          otherwise: 0,
        }),
      },
      reply: 'feedback-token-list',
      async handle({ deps, principal, req, query: { run_id, ...page } }) {
        const { tokens } = deps.feedback
        const found = await tokens.list(principal.workspace_id, run_id, { ...page, now: deps.clock.now() })
        return { body: found.map((token) => toAnswer(token, token.id, ownAddress(deps, req))) }
      },
    }),
    useRoute(),
  ]
}
