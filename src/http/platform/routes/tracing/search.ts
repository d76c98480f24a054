import { defined } from '../../request/body-fields.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { type PlatformRoute, route } from '../../route.ts'

const MOST = 100

export function searchRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/traces/{trace_id}/search',
      needs: 'runs:read',
      summary: 'The runs of a trace that contain a text, and where',
      description:
        'NDJSON: a line with `run_id` and `paths` for each run, earliest first, then one with `cursors`. At most 20 paths of a run are named, and none where the text spans several values.',
      tag: 'Runs',
      params: { trace_id: uuidParameter('Id of the trace.') },
      body: 'trace-search',
      reply: 'bytes',
      reply_type: 'application/x-ndjson',
      errors: ['store_unavailable', 'rate_limited'],
      async handle({ deps, principal, params: { trace_id }, body: { query, limit, cursor }, gone }) {
        const asker = { holder: principal.api_key_id, gone: gone() }
        const search = { trace: trace_id, query, limit: limit ?? MOST, ...defined({ cursor }) }
        return { body: await deps.reads.matches(principal.workspace_id, search, asker) }
      },
    }),
  ]
}
