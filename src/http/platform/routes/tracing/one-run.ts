import { choiceParameter, requiredTextParameter, uuidParameter } from '../../../api/parameters.ts'
import { type AttachmentLinks, linkExpiry } from '../../../../trace/json/run-links.ts'
import { attachmentHeaders } from '../../attachment-headers.ts'
import { found } from '../../request/body-fields.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import { route, type PlatformContext, type PlatformRoute } from '../../route.ts'

const TAG = 'Runs'

/**
 * The form of a run for a client. LangSmith's Python client sets `attachments` itself when it reads a run, and fails if
 * the response contains them; users compare its times with times without a zone (ADR 0038).
 */
export function fieldsFor(userAgent: string | undefined): { omit?: string[]; zoneless?: true } {
  return userAgent?.startsWith('langsmith-py/') === true ? { omit: ['attachments'], zoneless: true } : {}
}

/** Data of the links to attachments in the response to a request. */
export async function attachmentLinks({
  deps,
  principal: { workspace_id },
  req,
}: Pick<PlatformContext, 'deps' | 'principal' | 'req'>): Promise<AttachmentLinks> {
  const key = await deps.sharing.attachmentKey()
  return { address: ownAddress(deps, req), workspace_id, key, expires: linkExpiry(deps.clock.now()) }
}

/** One run, and the files inside it. */
export function oneRunRoutes(): PlatformRoute[] {
  const params = { id: uuidParameter('Id of the run.') }
  return [
    route({
      method: 'GET',
      path: '/runs/{id}',
      needs: 'runs:read',
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
      async handle({ deps, principal, params: { id }, query: { media }, req }) {
        const link = media === 'refs' ? `/api/v1/runs/${id}/media?path=` : undefined
        const links = await attachmentLinks({ deps, principal, req })
        const fields = { ...fieldsFor(req.headers['user-agent']), links }
        return { body: found(await deps.reads.traceRun(principal.workspace_id, id, fields, link), 'Run') }
      },
    }),
    route({
      method: 'GET',
      path: '/runs/{id}/media',
      needs: 'runs:read',
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
