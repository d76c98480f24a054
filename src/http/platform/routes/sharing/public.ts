import { AppError } from '../../../../base/errors.ts'
import type { Share } from '../../../../ingest/share-store.ts'
import type { TraceRunQuery } from '../../../../query/trace-reads.ts'
import type { SchemaTypes, TraceRunPublicSelect } from '../../../../schema/types.gen.ts'
import { isSigned } from '../../../../trace/json/run-links.ts'
import { PUBLIC_RUN_SELECTS } from '../../../../trace/json/selected-run.ts'
import {
  choicesParameter,
  integerParameter,
  requiredTextParameter,
  textParameter,
  uuidParameter,
} from '../../../api/parameters.ts'
import { attachmentHeaders } from '../../attachment-headers.ts'
import { defined, found, uuidsOf } from '../../request/body-fields.ts'
import { type PlatformContext, type PlatformRoute, route } from '../../route.ts'
import { fieldsFor } from '../tracing/one-run.ts'
import { openShare, placeInShare, TAG, TOKEN, whereShared } from './sharing.ts'

/** The common parts of routes that read shared runs. */
const PUBLIC = {
  needs: 'open',
  description:
    'Needs no key; one that is sent is ignored. A token is valid for 300 reads a minute. After ten unknown tokens a minute from one address: 429.',
  tag: TAG,
  reply: 'bytes',
  errors: ['not_found', 'share_ended', 'rate_limited', 'store_unavailable'],
} as const
const RUN = { ...TOKEN, id: uuidParameter('Id of a run of the shared trace.') }

/** The fields that a public read returns; links to the interface are left out. */
function shownPublicly(selects: readonly TraceRunPublicSelect[] | null | undefined) {
  return { selects: selects && selects.length > 0 ? selects : (['ID'] as const), address: '' }
}

function toQuery(share: Share, body: SchemaTypes['trace-run-public-query']): TraceRunQuery {
  const { project_ids, trace_ids, trace_filter } = whereShared(share)
  const id = uuidsOf(body.id)
  const where = { trace: trace_ids?.[0], trace_filter, id, cursor: body.cursor }
  return { session: [...project_ids], ...defined(where), limit: body.limit ?? 100, order: 'desc' }
}

async function readOne(
  { deps, req: { headers } }: Pick<PlatformContext, 'deps' | 'req'>,
  share: Share,
  run_id: string,
): Promise<Uint8Array> {
  await placeInShare(deps, share, run_id)
  const choice = fieldsFor(headers['user-agent'])
  return found(await deps.reads.traceRun(share.workspace_id, run_id, choice), 'Run')
}

function readRoutes(): PlatformRoute[] {
  const about = { ...PUBLIC, method: 'GET', reply_schema: 'trace-run-read' } as const
  return [
    route({
      ...about,
      path: '/public/{token}/run',
      summary: 'Read the root of a shared trace',
      params: TOKEN,
      async handle({ deps, params: { token }, req }) {
        const share = await openShare({ deps, req }, token)
        if (share.subject.kind === 'thread')
          throw new AppError('not_found', {
            message: 'This token shares a thread, which has no root: request a run by its id.',
          })
        return { body: await readOne({ deps, req }, share, share.subject.trace_id) }
      },
    }),
    route({
      ...about,
      path: '/public/{token}/run/{id}',
      summary: 'Read one run of a shared trace',
      params: RUN,
      async handle({ deps, params: { token, id }, req }) {
        return { body: await readOne({ deps, req }, await openShare({ deps, req }, token), id) }
      },
    }),
    route({
      ...about,
      method: 'POST',
      path: '/public/{token}/runs/query',
      summary: 'List the runs of a shared trace, newest first, page by page',
      params: TOKEN,
      body: 'trace-run-public-query',
      reply_schema: 'trace-run-page',
      async handle({ deps, params: { token }, body, req, gone }) {
        const share = await openShare({ deps, req }, token)
        const asker = { holder: token, gone: gone() }
        const query = { ...toQuery(share, body), shown: fieldsFor(req.headers['user-agent']) }
        return { body: await deps.reads.query(share.workspace_id, query, asker) }
      },
    }),
  ]
}

function readV2Routes(): PlatformRoute[] {
  return [
    route({
      ...PUBLIC,
      method: 'POST',
      path: '/v2/public/{token}/runs/query',
      summary: 'Selected fields of all runs of a shared trace, oldest first',
      params: TOKEN,
      body: 'trace-run-public-query-v2',
      reply_schema: 'trace-run-list-v2',
      async handle({ deps, params: { token }, body, req, gone }) {
        const share = await openShare({ deps, req }, token)
        const asker = { holder: token, gone: gone() }
        const shown = shownPublicly(body.selects)
        return {
          body: found(
            await deps.selectedReads.ofTraces(share.workspace_id, whereShared(share), shown, asker),
            'Trace',
          ),
        }
      },
    }),
    route({
      ...PUBLIC,
      method: 'GET',
      path: '/v2/public/{token}/run/{id}',
      summary: 'Selected fields of one run of a shared trace',
      params: RUN,
      query: {
        selects: choicesParameter('Fields to answer; none: the id only.', PUBLIC_RUN_SELECTS),
        start_time: textParameter('When the run started; not needed to find it.'),
      },
      reply_schema: 'trace-run-v2',
      async handle({ deps, params: { token, id }, query: { selects }, req }) {
        const share = await openShare({ deps, req }, token)
        const { project_id, run_id } = await placeInShare(deps, share, id)
        const ids = { project_id, run_id }
        const read = deps.selectedReads.one(share.workspace_id, ids, shownPublicly(selects))
        return { body: found(await read, 'Run') }
      },
    }),
  ]
}

function attachmentRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/public/attachments/{id}/{name}',
    needs: 'open',
    summary: 'The bytes of an attachment, by a link of API v2',
    description: 'Needs no key: the link is signed, for one attachment, and expires within two hours.',
    tag: TAG,
    params: { id: uuidParameter('Id of the run.'), name: requiredTextParameter('Name of the attachment.') },
    query: {
      workspace_id: uuidParameter('The workspace of the run.'),
      expires: integerParameter('When the link expires, epoch milliseconds.', {
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        otherwise: 0,
      }),
      signature: requiredTextParameter('As in the link.'),
    },
    reply: 'bytes',
    reply_type: 'application/octet-stream',
    errors: ['not_found', 'rate_limited', 'attachment_damaged', 'store_unavailable'],
    async handle({ deps, params: { id: run_id, name }, query: { workspace_id, expires, signature } }) {
      const link = { workspace_id, run_id, name, expires }
      const isGood = isSigned(link, signature, await deps.sharing.attachmentKey())
      if (!isGood || expires <= deps.clock.now())
        throw new AppError('not_found', { message: 'This link has expired, or was not made by this server.' })
      deps.sharing.limit.take(run_id)
      const attachment = found(await deps.reads.attachment(workspace_id, run_id, name), 'Attachment')
      const blob = found(await deps.blobs.read(attachment.sha256), 'Attachment')
      return { headers: attachmentHeaders(name, attachment.mime_type, blob.size), body: blob.bytes }
    },
  })
}

/** Routes that need no key: reads of shared runs, and attachments by signed links. */
export function publicRoutes(): PlatformRoute[] {
  return [...readRoutes(), ...readV2Routes(), attachmentRoute()]
}
