import { textParameter } from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { INGEST_REFUSALS, neverReached } from './ingest-route.ts'

const TAG = 'Ingest'
const ERRORS = [
  'invalid_json',
  'invalid_encoding',
  'body_too_large',
  'body_too_slow',
  'unsupported_media_type',
  'unsupported_encoding',
  ...INGEST_REFUSALS,
  'trace_deleted',
] as const
const HOT = {
  needs: 'runs:create',
  tag: TAG,
  body: 'raw',
  reply: 'ingest-answer',
  status: 202,
  errors: ERRORS,
  handle: neverReached,
} as const

/**
 * Routes to which clients send runs. The ingest handler matches them on the raw request (see ingest-handler.ts); here
 * they are only described.
 */
export function ingestRoutes(): PlatformRoute[] {
  return [
    route({
      ...HOT,
      method: 'POST',
      path: '/runs/multipart',
      hot: { kind: 'multipart' },
      summary: 'Send creates and updates of runs, field by field, with attachments and feedback',
      description:
        'multipart/form-data with parts named `post.{id}`, `patch.{id}`, `{post|patch}.{id}.{inputs|outputs|events|extra|error|serialized}`, `attachment.{run_id}.{name}` and `feedback.{id}`, in any order; Content-Encoding identity, gzip or zstd. Accepted runs are durable before the response; an invalid run does not affect the others.',
      errors: [...ERRORS, 'invalid_multipart', 'too_many_parts'],
    }),
    route({
      ...HOT,
      method: 'POST',
      path: '/runs/batch',
      hot: { kind: 'batch' },
      summary: 'Send creates and updates of runs as one JSON object',
      description: 'JSON `{"post": […], "patch": […]}`, either may be absent.',
      errors: [...ERRORS, 'too_many_parts'],
    }),
    route({
      ...HOT,
      method: 'POST',
      path: '/runs',
      hot: { kind: 'create' },
      summary: 'Create one run',
      description: 'One run as JSON; trace_id and dotted_order are derived where absent.',
    }),
    route({
      ...HOT,
      method: 'PATCH',
      path: '/runs/{id}',
      hot: { kind: 'update' },
      summary: 'Update one run',
      description: 'Changed fields as JSON. The run need not be known yet.',
      params: { id: textParameter('Id of the run, with dashes or without.') },
    }),
    route({
      method: 'GET',
      path: '/ingest/health',
      needs: 'organization:read',
      summary: 'Health of ingest: accepted, stored, rejected by code, waiting, log, store and disk',
      tag: TAG,
      reply: 'ingest-health',
      async handle({ deps }) {
        await deps.disk.look()
        return { body: deps.ingester.health() }
      },
    }),
  ]
}
