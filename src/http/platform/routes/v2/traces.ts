import type { SelectedWhere } from '../../../../query/selected-reads.ts'
import { RUN_SELECTS } from '../../../../trace/json/selected-run.ts'
import { bodyFault } from '../../../body/json.ts'
import {
  choicesParameter,
  optionalTimeParameter,
  textParameter,
  uuidParameter,
} from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { defined, found, uuidsOf } from '../../request/body-fields.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import { EVENT_STREAM, pageReply } from '../../reply/page-reply.ts'
import { projectsOf, readQuery, selectsOf } from './asked-runs.ts'

const TAG = 'API v2: traces'
const PAGE_SIZE = 20

function queryRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/v2/traces/query',
    needs: 'runs:read',
    summary: 'List traces with selected fields of their roots, newest first, page by page',
    description: `The cursor stays valid while runs are being written. ${EVENT_STREAM}`,
    tag: TAG,
    body: 'trace-query-v2',
    reply: 'bytes',
    reply_schema: 'trace-page-v2',
    other_types: ['text/event-stream'],
    errors: ['not_found', 'not_implemented', 'store_unavailable', 'rate_limited'],
    async handle({ deps, principal: { workspace_id, api_key_id }, body, req, gone }) {
      const { where, ...asked } = readQuery(body, { page_size: PAGE_SIZE })
      const project_ids = await projectsOf(deps, workspace_id, [body.project_id])
      const trace_ids = uuidsOf(body.trace_ids)
      const roots = { ...where, ...(trace_ids && { trace_ids }), project_ids, is_root: true }
      const page = {
        ...asked,
        where: roots,
        of: 'traces',
        subtree: false,
        address: ownAddress(deps, req),
      } as const
      const asker = { holder: api_key_id, gone: gone() }
      return pageReply(req, await deps.selectedReads.page(workspace_id, page, asker))
    },
  })
}

/** Times of a query in microseconds: both or none. */
function timesOf({
  min_start_time: from,
  max_start_time: to,
}: Readonly<Record<'min_start_time' | 'max_start_time', number | undefined>>): Pick<
  SelectedWhere,
  'from' | 'to'
> {
  if ((from === undefined) !== (to === undefined)) {
    const message = 'min_start_time and max_start_time are needed together'
    throw bodyFault([
      { code: 'missing_field', path: from === undefined ? 'min_start_time' : 'max_start_time', message },
    ])
  }
  if (from === undefined || to === undefined) return {}
  return { from: Math.round(from * 1000), to: Math.round(to * 1000) }
}

/** Reading traces by selected fields. */
export function traceV2Routes(): PlatformRoute[] {
  return [
    queryRoute(),
    route({
      method: 'GET',
      path: '/v2/traces/{id}/runs',
      needs: 'runs:read',
      summary: 'Read selected fields of all runs of a trace, oldest first',
      description:
        'A trace that does not fit into one response (25,000 runs, 32 MB) is refused; `POST /api/v2/runs/query` with `trace_id` returns its pages.',
      tag: TAG,
      params: { id: uuidParameter('Id of the trace.') },
      query: {
        project_id: uuidParameter('The project of the trace.'),
        filter: textParameter('LangSmith filter expression on each run.'),
        min_start_time: optionalTimeParameter('Runs that started at or after it; only with the other.'),
        max_start_time: optionalTimeParameter('Runs that started before it; only with the other.'),
        selects: choicesParameter('Fields to answer; none: the id only.', RUN_SELECTS),
      },
      reply: 'bytes',
      reply_schema: 'trace-run-list-v2',
      errors: ['not_found', 'store_unavailable', 'rate_limited'],
      async handle({ deps, principal: { workspace_id, api_key_id }, params: { id }, query, req, gone }) {
        const filter = query.filter === '' ? undefined : query.filter
        const rest = defined({ filter, ...timesOf(query) })
        const where = { project_ids: [query.project_id], trace_ids: [id], ...rest }
        const asker = { holder: api_key_id, gone: gone() }
        const shown = { selects: selectsOf(query.selects), address: ownAddress(deps, req) }
        return { body: found(await deps.selectedReads.ofTraces(workspace_id, where, shown, asker), 'Trace') }
      },
    }),
  ]
}
