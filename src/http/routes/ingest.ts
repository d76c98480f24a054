import { AppError } from '../../base/errors.ts'
import { textParameter } from '../parameters.ts'
import { type Route, type RouteReply, route } from '../route.ts'

const TAG = 'Ingest'
const HOT = { tag: TAG, body: 'raw', reply: 'ingest-answer', status: 202, hot: true } as const
const ERRORS = [
  'invalid_json',
  'invalid_encoding',
  'body_too_large',
  'body_too_slow',
  'unsupported_media_type',
  'unsupported_encoding',
  'overloaded',
  'log_full',
  'log_unavailable',
  'disk_full',
  'disk_unwritable',
  'usage_limit_reached',
] as const

/** Stands in for the ingest handler, which takes these requests before any route is tried. */
async function never(): Promise<RouteReply<never>> {
  throw new AppError('internal', { message: 'An ingest route reached the router.' })
}

/** Where clients send runs. Matched on the raw request (see ingest-handler.ts); here they are described. */
export function ingestRoutes(): Route[] {
  return [
    route({
      ...HOT,
      method: 'POST',
      path: '/runs/multipart',
      summary: 'Send creates and updates of runs, field by field, with attachments and feedback',
      description:
        'multipart/form-data with parts named `post.{id}`, `patch.{id}`, `{post|patch}.{id}.{inputs|outputs|events|extra|error|serialized}`, `attachment.{run_id}.{name}` and `feedback.{id}`, in any order; Content-Encoding identity, gzip or zstd. What is accepted is durable when the answer comes; a bad run never costs the others.',
      errors: [...ERRORS, 'invalid_multipart', 'too_many_parts'],
      handle: never,
    }),
    route({
      ...HOT,
      method: 'POST',
      path: '/runs/batch',
      summary: 'Send creates and updates of runs as one JSON object',
      description: 'JSON `{"post": […], "patch": […]}`, either may be absent.',
      errors: [...ERRORS, 'too_many_parts'],
      handle: never,
    }),
    route({
      ...HOT,
      method: 'POST',
      path: '/runs',
      summary: 'Create one run',
      description: 'One run as JSON; trace_id and dotted_order are derived where absent.',
      errors: ERRORS,
      handle: never,
    }),
    route({
      ...HOT,
      method: 'PATCH',
      path: '/runs/{id}',
      summary: 'Update one run',
      description: 'Changed fields as JSON. The run need not be known yet.',
      params: { id: textParameter('Id of the run, with dashes or without.') },
      errors: ERRORS,
      handle: never,
    }),
    route({
      method: 'GET',
      path: '/ingest/health',
      summary: 'How ingestion does: accepted, stored, rejected by code, waiting, log, store and disk',
      tag: TAG,
      reply: 'ingest-health',
      async handle({ deps }) {
        await deps.disk.look()
        return { body: deps.ingester.health() }
      },
    }),
  ]
}
