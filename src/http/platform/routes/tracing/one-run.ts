import { choiceParameter, requiredTextParameter, uuidParameter } from '../../../api/parameters.ts'
import { attachmentHeaders } from '../../attachment-headers.ts'
import { found } from '../../request/body-fields.ts'
import { route, type PlatformRoute } from '../../route.ts'

const TAG = 'Runs'

/**
 * The fields to omit: LangSmith's Python client sets `attachments` itself when it reads a run, and fails if the
 * response contains them (ADR 0011).
 */
export function fieldsFor(userAgent: string | undefined): { omit?: string[] } {
  return userAgent?.startsWith('langsmith-py/') === true ? { omit: ['attachments'] } : {}
}

/** One run, and the files inside it. */
export function oneRunRoutes(): PlatformRoute[] {
  const params = { id: uuidParameter('Id of the run.') }
  return [
    route({
      method: 'GET',
      path: '/runs/{id}',
      summary: 'Read one run',
      tag: TAG,
      params,
      query: {
        media: choiceParameter(
          '`refs`: files of more than 4 KB in base64 are `{"$media", "size", "mime"}`, where `$media` is the path of a link to the file.',
          ['inline', 'refs'],
        ),
      },
      reply: 'bytes',
      reply_schema: 'trace-run-read',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal, params: { id }, query: { media }, req: { headers } }) {
        const link = media === 'refs' ? `/api/v1/runs/${id}/media?path=` : undefined
        const fields = fieldsFor(headers['user-agent'])
        return { body: found(await deps.reads.traceRun(principal.workspace_id, id, fields, link), 'Run') }
      },
    }),
    route({
      method: 'GET',
      path: '/runs/{id}/media',
      summary: 'A file that stands in base64 in a run',
      description:
        'Types that a browser would run (HTML, SVG, XML, unknown ones) are saved instead of shown, and nothing in them can run.',
      tag: TAG,
      params,
      query: { path: requiredTextParameter('JSON Pointer into the run, as in `$media`.') },
      reply: 'bytes',
      reply_type: 'application/octet-stream',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal, params: { id }, query: { path } }) {
        const { mime, bytes } = found(await deps.reads.media(principal.workspace_id, id, path), 'File')
        const name = path.slice(path.lastIndexOf('/') + 1)
        return { headers: attachmentHeaders(name, mime, bytes.length), body: bytes }
      },
    }),
  ]
}
