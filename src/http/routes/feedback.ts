import { newUuid, parseUuid } from '../../base/ids.ts'
import type { Principal } from '../../auth/principal.ts'
import { AppError, ERRORS, type ErrorCode } from '../../base/errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { RequestHead } from '../../trace/decoded.ts'
import type { AppDeps } from '../app-deps.ts'
import { requestHead } from '../ingest-handler.ts'
import { integerParameter, textsParameter, uuidsParameter } from '../parameters.ts'
import { type Route, type RouteContext, route } from '../route.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'

const TAG = 'Feedback'
type FeedbackBody = SchemaTypes['feedback-create']

/** The record as the one part of a multipart body, so that feedback has one way into the store. */
function wrapped(
  id: string,
  record: JsonObject,
  req: RouteContext<unknown, unknown, unknown>['req'],
  principal: Principal,
  deps: AppDeps,
): { head: RequestHead; body: Uint8Array } {
  const boundary = `weir-${newUuid()}`
  const json = Buffer.from(JSON.stringify(record))
  const body = Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="feedback.${id}"\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n`,
    ),
    json,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  const head = requestHead({ kind: 'multipart' }, { req }, principal, deps)
  const content_type = `multipart/form-data; boundary=${boundary}`
  return { head: { ...head, content_type, content_encoding: '' }, body: new Uint8Array(body) }
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code)
}

async function store(
  context: RouteContext<unknown, unknown, FeedbackBody>,
): Promise<SchemaTypes['feedback-read']> {
  const { deps, principal, req, body } = context
  const id = parseUuid(body.id) ?? newUuid()
  const { head, body: bytes } = wrapped(id, { ...body, id } as JsonObject, req, principal, deps)
  const { rejected } = await deps.ingester.ingest(head, bytes)
  const [fault] = rejected
  if (fault !== undefined) {
    const code = isErrorCode(fault.code) ? fault.code : 'invalid_request'
    throw new AppError(code, { message: fault.reason })
  }
  const received = new Date(head.received_at).toISOString()
  return { ...UNSAID, ...body, id, created_at: received, modified_at: received }
}

/** Fields that clients expect to find, said or not: the Python client refuses a record without `trace_id`. */
const UNSAID = { run_id: null, trace_id: null, score: null, value: null, comment: null, correction: null }

function newest(a: JsonObject, b: JsonObject): number {
  return String(b['created_at'] ?? '').localeCompare(String(a['created_at'] ?? ''))
}

function sourceOf(record: JsonObject): unknown {
  const source = record['feedback_source']
  return typeof source === 'object' && source !== null && 'type' in source ? source['type'] : undefined
}

function listRoute(): Route {
  return route({
    method: 'GET',
    path: '/feedback',
    summary: 'List the feedback on runs, newest first',
    tag: TAG,
    query: {
      run: uuidsParameter('The runs.', 1),
      key: textsParameter('Only these keys.'),
      source: textsParameter('Only these source types, e.g. api, model.'),
      limit: integerParameter('At most so many.', { minimum: 1, maximum: 100, otherwise: 100 }),
      offset: integerParameter('Skip so many.', { minimum: 0, maximum: 1_000_000_000, otherwise: 0 }),
    },
    reply: 'feedback-list',
    errors: ['store_unavailable'],
    async handle({ deps, principal, query: { run, key, source, limit, offset } }) {
      const records = await deps.reads.feedback(principal.workspace_id, run)
      const wanted = records
        .map((record): JsonObject => ({ ...UNSAID, ...record }))
        .filter((record) => key.length === 0 || key.includes(String(record['key'])))
        .filter((record) => source.length === 0 || source.includes(String(sourceOf(record))))
        .sort(newest)
      // As stored: they passed the check when they came.
      return { body: wanted.slice(offset, offset + limit) as unknown as SchemaTypes['feedback-list'] }
    },
  })
}

/** Judgements on runs. */
export function feedbackRoutes(): Route[] {
  return [
    route({
      method: 'POST',
      path: '/feedback',
      summary: 'Judge a run',
      tag: TAG,
      body: 'feedback-create',
      reply: 'feedback-read',
      errors: ['overloaded', 'log_full'],
      handle: async (context) => ({ body: await store(context) }),
    }),
    listRoute(),
  ]
}
