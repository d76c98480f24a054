import { AppError } from '../../../../base/errors.ts'
import { parseUuid } from '../../../../base/ids.ts'
import type { SelectedWhere } from '../../../../query/selected-reads.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { appPath } from '../../../../trace/json/row-fields.ts'
import { RUN_SELECTS } from '../../../../trace/json/selected-run.ts'
import type { AppDeps } from '../../app-deps.ts'
import { defined, found, uuidsOf } from '../../request/body-fields.ts'
import { bodyFault } from '../../../body/json.ts'
import { EVENT_STREAM, pageReply } from '../../reply/page-reply.ts'
import { choicesParameter, textParameter, uuidParameter } from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import { projectsOf, readQuery, selectsOf } from './asked-runs.ts'

const TAG = 'API v2: runs'
const PAGE_SIZE = 100
type QueryBody = SchemaTypes['trace-run-query-v2']

/** The projects that a query names, directly or by their dataset. */
async function projectsOfQuery(
  deps: AppDeps,
  workspace_id: string,
  { project_ids, reference_dataset_id }: QueryBody,
): Promise<string[]> {
  const hasProjects = project_ids !== null && project_ids !== undefined && project_ids.length > 0
  const hasDataset = reference_dataset_id !== null && reference_dataset_id !== undefined
  if (hasProjects === hasDataset) {
    const message = 'either project_ids or reference_dataset_id is needed'
    throw bodyFault([{ code: 'missing_field', path: 'project_ids', message }])
  }
  if (hasDataset) throw new AppError('not_implemented', { message: 'There are no datasets on this server.' })
  return projectsOf(deps, workspace_id, project_ids ?? [])
}

function whereOf(body: QueryBody): Omit<SelectedWhere, 'project_ids'> {
  const { is_root, has_error, run_type, trace_id, reference_examples } = body
  if (reference_examples !== null && reference_examples !== undefined && reference_examples.length > 0)
    throw new AppError('not_implemented', { message: 'There are no datasets on this server.' })
  const trace = parseUuid(trace_id)
  return defined({
    run_ids: uuidsOf(body.ids),
    trace_ids: trace === undefined ? undefined : [trace],
    is_root,
    error: has_error,
    run_type: run_type?.toLowerCase(),
  })
}

function queryRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/v2/runs/query',
    needs: 'runs:read',
    summary: 'List runs with selected fields, newest first, page by page',
    description: `The cursor stays valid while runs are being written. ${EVENT_STREAM}`,
    tag: TAG,
    body: 'trace-run-query-v2',
    reply: 'bytes',
    reply_schema: 'trace-run-page-v2',
    other_types: ['text/event-stream'],
    errors: ['not_found', 'not_implemented', 'store_unavailable', 'rate_limited'],
    async handle({ deps, principal: { workspace_id, api_key_id }, body, req, gone }) {
      const { where, ...asked } = readQuery(body, { page_size: PAGE_SIZE })
      const project_ids = await projectsOfQuery(deps, workspace_id, body)
      const subtree = body.include_subtree_usage === true
      const page = {
        ...asked,
        where: { ...where, ...whereOf(body), project_ids },
        of: 'runs',
        subtree,
        address: ownAddress(deps, req),
      } as const
      const asker = { holder: api_key_id, gone: gone() }
      return pageReply(req, await deps.selectedReads.page(workspace_id, page, asker))
    },
  })
}

const RUN = { id: uuidParameter('Id of the run.') }
const PROJECT = uuidParameter('The project of the run.')
const START = textParameter('When the run started; not needed to find it.')

/** Reading runs by selected fields. */
export function runV2Routes(): PlatformRoute[] {
  return [
    queryRoute(),
    route({
      method: 'GET',
      path: '/v2/runs/{id}',
      needs: 'runs:read',
      summary: 'Read selected fields of one run',
      tag: TAG,
      params: RUN,
      query: {
        project_id: PROJECT,
        selects: choicesParameter('Fields to answer; none: the id only.', RUN_SELECTS),
        start_time: START,
      },
      reply: 'bytes',
      reply_schema: 'trace-run-v2',
      errors: ['not_found', 'store_unavailable'],
      async handle({ deps, principal: { workspace_id }, params: { id }, query, req }) {
        const ids = { project_id: query.project_id, run_id: id }
        const shown = { selects: selectsOf(query.selects), address: ownAddress(deps, req) }
        return { body: found(await deps.selectedReads.one(workspace_id, ids, shown), 'Run') }
      },
    }),
    route({
      method: 'GET',
      path: '/v2/runs/{id}/url',
      needs: 'runs:read',
      summary: 'The page of a run in the web interface',
      tag: TAG,
      params: RUN,
      query: { project_id: PROJECT, trace_id: uuidParameter('The trace of the run.'), start_time: START },
      reply: 'run-url',
      errors: ['not_found', 'store_unavailable'],
      async handle({
        deps,
        principal: { workspace_id },
        params: { id },
        query: { project_id, trace_id },
        req,
      }) {
        const address = ownAddress(deps, req)
        found(
          await deps.selectedReads.one(
            workspace_id,
            { project_id, run_id: id },
            { selects: ['ID'], address },
          ),
          'Run',
        )
        return { body: { url: address + appPath(trace_id, id) } }
      },
    }),
  ]
}
