import type { TraceRunFacetQuery } from '../../../../query/trace-reads.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { bodyFault } from '../../../body/json.ts'
import { defined } from '../../request/body-fields.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { toTraceRunQuery } from './runs.ts'

const MAX_VALUES = 20

/** Lists the values that a field has in some runs. */
export function facetRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/runs/facets',
      summary: 'The values of a field of runs, with the number of runs of each',
      description:
        'Looks at the newest 200,000 runs that session, trace, id and the times select; `is_whole` says whether these are all.',
      tag: 'Runs',
      body: 'trace-run-facet-query',
      reply: 'trace-run-facets',
      errors: ['store_unavailable', 'rate_limited'],
      async handle({ deps, principal, body, gone }) {
        const asker = { holder: principal.api_key_id, gone: gone() }
        const facets = await deps.reads.facets(principal.workspace_id, toFacetQuery(body), asker)
        return { body: { ...facets } }
      },
    }),
  ]
}

function toFacetQuery(body: SchemaTypes['trace-run-facet-query']): TraceRunFacetQuery {
  const { field, key, prefix } = body
  if (field === 'metadata_value' && !key) {
    const message = 'is required with the field metadata_value'
    throw bodyFault([{ code: 'value_error', path: 'key', message }])
  }
  const { limit: _limit, order: _order, ...query } = toTraceRunQuery({ ...body, limit: null })
  return { ...query, field, ...defined({ key, prefix }), max_values: body.limit ?? MAX_VALUES }
}
