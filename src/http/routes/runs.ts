import { AppError } from '../../base/errors.ts'
import { parseUuid } from '../../base/ids.ts'
import type { TraceRunQuery } from '../../ingest/trace-reads.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { parseTime } from '../../trace/time.ts'
import { attachmentHeaders } from '../attachment-headers.ts'
import { bodyFault } from '../json-body.ts'
import { choiceParameter, requiredTextParameter, textParameter, uuidParameter } from '../parameters.ts'
import { type Route, route } from '../route.ts'

const TAG = 'Runs'
type QueryBody = SchemaTypes['trace-run-query']

function micros(body: QueryBody, name: 'start_time' | 'end_time'): number | undefined {
  const value = body[name] ?? undefined
  const time = parseTime(value)
  if (value !== undefined && time === undefined) {
    throw bodyFault([{ code: 'bad_format', path: name, message: 'must be an ISO 8601 time' }])
  }
  return time
}

function uuids(values: readonly string[] | null | undefined): string[] | undefined {
  return values?.flatMap((value) => parseUuid(value) ?? [])
}

/** The same query without what was not said. */
function defined<T extends object>(query: T): { [K in keyof T]?: Exclude<T[K], undefined | null> } {
  const said = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(said) as { [K in keyof T]?: Exclude<T[K], undefined | null> }
}

/** The body of POST /runs/query with its defaults, ids in one spelling and times in microseconds. */
export function toTraceRunQuery(body: QueryBody): TraceRunQuery {
  const { is_root, run_type, error, filter, select, cursor } = body
  const said = defined({
    session: uuids(body.session),
    trace: parseUuid(body.trace),
    id: uuids(body.id),
    parent_run: parseUuid(body.parent_run),
    is_root,
    run_type,
    start_time: micros(body, 'start_time'),
    end_time: micros(body, 'end_time'),
    error,
    filter,
    select,
    cursor,
  })
  return { ...said, limit: body.limit ?? 100, order: body.order ?? 'desc' }
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new AppError('not_found', { message: `${what} not found` })
  return value
}

function queryRoute(): Route {
  return route({
    method: 'POST',
    path: '/runs/query',
    summary: 'List runs, newest first, page by page',
    description: 'The cursor stays good while runs are being written.',
    tag: TAG,
    body: 'trace-run-query',
    reply: 'bytes',
    reply_schema: 'trace-run-page',
    errors: ['store_unavailable', 'rate_limited'],
    async handle({ deps, principal, body, gone }) {
      const asker = { holder: principal.api_key_id, gone: gone() }
      return { body: await deps.reads.query(principal.workspace_id, toTraceRunQuery(body), asker) }
    },
  })
}

function validateRoute(): Route {
  return route({
    method: 'POST',
    path: '/runs/validate',
    summary: 'Check runs as ingest would, and store nothing',
    description: 'Takes any body that an ingest route takes.',
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

function attachmentRoute(): Route {
  return route({
    method: 'GET',
    path: '/runs/{id}/attachments/{name}',
    summary: 'The bytes of one attachment, with their type',
    tag: TAG,
    params: { id: uuidParameter('Id of the run.'), name: requiredTextParameter('Name of the attachment.') },
    reply: 'bytes',
    reply_type: 'application/octet-stream',
    errors: ['not_found'],
    async handle({ deps, principal, params: { id, name } }) {
      const attachment = found(await deps.reads.attachment(principal.workspace_id, id, name), 'Attachment')
      const blob = found(await deps.blobs.read(attachment.sha256), 'Attachment')
      return { headers: attachmentHeaders(name, attachment.mime_type, blob.size), body: blob.bytes }
    },
  })
}

/** LangSmith's Python client passes `attachments` itself when it reads a run, and fails if the answer has them (ADR 0011). */
function fieldsFor(userAgent: string | undefined): { omit?: string[] } {
  return userAgent?.startsWith('langsmith-py/') === true ? { omit: ['attachments'] } : {}
}

/** Reading runs and traces: answers come as bytes and pass through. */
export function runRoutes(): Route[] {
  return [
    queryRoute(),
    validateRoute(),
    route({
      method: 'GET',
      path: '/runs/{id}',
      summary: 'Read one run',
      tag: TAG,
      params: { id: uuidParameter('Id of the run.') },
      reply: 'bytes',
      reply_schema: 'trace-run-read',
      errors: ['not_found', 'store_unavailable'],
      handle: async ({ deps, principal, params: { id }, req: { headers } }) => ({
        body: found(
          await deps.reads.traceRun(principal.workspace_id, id, fieldsFor(headers['user-agent'])),
          'Run',
        ),
      }),
    }),
    attachmentRoute(),
    route({
      method: 'GET',
      path: '/traces/{trace_id}',
      summary: 'Read a whole trace with its totals',
      tag: TAG,
      params: { trace_id: uuidParameter('Id of the trace.') },
      query: {
        view: choiceParameter('`lean` leaves out inputs, outputs and messages.', ['full', 'lean']),
        cursor: textParameter('For what comes after the first 1,000 runs.'),
      },
      reply: 'bytes',
      reply_schema: 'trace-read',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal, params: { trace_id }, query: { view, cursor } }) {
        const options = { view, ...(cursor !== undefined && { cursor }) }
        return { body: found(await deps.reads.trace(principal.workspace_id, trace_id, options), 'Trace') }
      },
    }),
  ]
}
