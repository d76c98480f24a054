import { parseUuid } from '../../../../base/ids.ts'
import type { TraceRunQuery } from '../../../../query/trace-reads.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { knownVersions, validatorOf } from '../../../server/answer/entity-tag.ts'
import { attachmentHeaders } from '../../attachment-headers.ts'
import { defined, found, bodyTime, uuidsOf } from '../../request/body-fields.ts'
import {
  choiceParameter,
  requiredTextParameter,
  textParameter,
  uuidParameter,
} from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { attachmentLinks, fieldsFor, oneRunRoutes } from './one-run.ts'

const TAG = 'Runs'
type QueryBody = SchemaTypes['trace-run-query']

/** LangSmith's documentation also has the numbers. */
function rootsOf(is_root: QueryBody['is_root']): boolean | undefined {
  return is_root === undefined || is_root === null ? undefined : Boolean(is_root)
}

/** The body of POST /runs/query with its defaults, ids in one spelling and times in microseconds. */
export function toTraceRunQuery(body: QueryBody): TraceRunQuery {
  const { is_root, run_type, error, filter, trace_filter, tree_filter, query, select, cursor, order_by } =
    body
  const sent = defined({
    session: uuidsOf(body.session),
    trace: parseUuid(body.trace),
    id: uuidsOf(body.id),
    parent_run: parseUuid(body.parent_run),
    is_root: body.execution_order === 1 ? true : rootsOf(is_root),
    run_type,
    start_time: bodyTime(body, 'start_time'),
    end_time: bodyTime(body, 'end_time'),
    error,
    filter,
    trace_filter,
    tree_filter,
    search: query,
    select,
    cursor,
    order_by: ORDERS.find((one) => one === order_by?.replace(/^-/, '')),
  })
  const order = order_by?.startsWith('-') === true ? 'desc' : (body.order ?? 'desc')
  return { ...sent, limit: body.limit ?? 100, order }
}

const ORDERS = ['latency', 'total_tokens', 'total_cost'] as const

function queryRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/runs/query',
    needs: 'runs:read',
    summary: 'List runs, newest first, page by page',
    description: 'The cursor stays valid while runs are being written.',
    tag: TAG,
    body: 'trace-run-query',
    reply: 'bytes',
    reply_schema: 'trace-run-page',
    errors: ['store_unavailable', 'rate_limited'],
    async handle({ deps, principal, body, req, gone }) {
      const asker = { holder: principal.api_key_id, gone: gone() }
      const fields = fieldsFor(req.headers['user-agent'])
      // Up to 0.14 the Python SDK reads the attachments of a list without selecting them.
      const linked = fields.zoneless ? ['s3_urls', 'inputs'] : ['s3_urls']
      const isLinked = body.select?.some((field) => linked.includes(field)) === true
      const links = isLinked ? await attachmentLinks({ deps, principal, req }) : undefined
      const shown = { ...fields, ...(links !== undefined && { links }) }
      const query = { ...toTraceRunQuery(body), shown }
      return { body: await deps.reads.query(principal.workspace_id, query, asker) }
    },
  })
}

function validateRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/runs/validate',
    needs: 'runs:read',
    summary: 'Check runs as ingest would, and store nothing',
    description: 'Accepts any body that an ingest route accepts.',
    tag: TAG,
    body: 'raw',
    reply: 'bytes',
    reply_schema: 'validation-report',
    errors: [
      'invalid_json',
      'invalid_multipart',
      'invalid_otlp',
      'invalid_encoding',
      'body_too_large',
      'unsupported_media_type',
    ],
    async handle({ deps, principal, body, req: { headers } }) {
      const content_type = headers['content-type'] ?? ''
      const content_encoding = headers['content-encoding'] ?? ''
      return {
        body: await deps.reads.validate(principal.workspace_id, { content_type, content_encoding }, body),
      }
    },
  })
}

function attachmentRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/runs/{id}/attachments/{name}',
    needs: 'runs:read',
    summary: 'The bytes of one attachment, with their type',
    tag: TAG,
    params: { id: uuidParameter('Id of the run.'), name: requiredTextParameter('Name of the attachment.') },
    reply: 'bytes',
    reply_type: 'application/octet-stream',
    errors: ['not_found', 'attachment_damaged', 'store_unavailable'],
    async handle({ deps, principal, params: { id, name } }) {
      const attachment = found(await deps.reads.attachment(principal.workspace_id, id, name), 'Attachment')
      const blob = found(await deps.blobs.read(attachment.sha256), 'Attachment')
      return { headers: attachmentHeaders(name, attachment.mime_type, blob.size), body: blob.bytes }
    },
  })
}

/** Reading runs and traces: responses are bytes that are passed on unparsed. */
export function runRoutes(): PlatformRoute[] {
  return [
    queryRoute(),
    validateRoute(),
    ...oneRunRoutes(),
    attachmentRoute(),
    route({
      method: 'GET',
      path: '/traces/{trace_id}',
      needs: 'runs:read',
      summary: 'Read a whole trace with its totals',
      tag: TAG,
      params: { trace_id: uuidParameter('Id of the trace.') },
      query: {
        view: choiceParameter(
          '`lean` leaves out inputs, outputs and messages; `outline` has all runs, up to 200,000, as columns.',
          ['full', 'lean', 'outline'],
        ),
        cursor: textParameter('For what comes after the first 1,000 runs; not with outline.'),
        after: textParameter(
          '`version` of an earlier outline: only the runs that have changed since, with all above them.',
        ),
      },
      reply: 'bytes',
      reply_schema: 'trace-view',
      other_replies: { 304: null },
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal, params: { trace_id }, query: { view, cursor, after }, req }) {
        if (view === 'outline') {
          const known = knownVersions(req.headers['if-none-match'])
          const asked = { known, ...(after !== undefined && { after }) }
          const { version, body } = found(
            await deps.reads.outline(principal.workspace_id, trace_id, asked),
            'Trace',
          )
          const headers = validatorOf(version)
          return body === undefined ? { status: 304, headers, body: '' } : { headers, body }
        }
        const options = { view, ...(cursor !== undefined && { cursor }) }
        return { body: found(await deps.reads.trace(principal.workspace_id, trace_id, options), 'Trace') }
      },
    }),
  ]
}
