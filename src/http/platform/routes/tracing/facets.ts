import type { TraceRunDifferenceQuery, TraceRunFacetQuery } from '../../../../query/trace-reads.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { bodyFault } from '../../../body/json.ts'
import { bodyTime, defined, uuidsOf } from '../../request/body-fields.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { toTraceRunQuery } from './runs.ts'

const MAX_VALUES = 20

/** Lists the values that a field has in some runs, and those by which some runs differ from the others. */
export function facetRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/runs/facets',
      needs: 'runs:read',
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
    route({
      method: 'POST',
      path: '/runs/differences',
      needs: 'runs:read',
      summary: 'What distinguishes some runs of a list from the others',
      description:
        'Compares the selected runs with the others among the newest 200,000 that session, trace, id and the times select.',
      tag: 'Runs',
      body: 'trace-run-difference-query',
      reply: 'trace-run-differences',
      errors: ['store_unavailable', 'rate_limited'],
      async handle({ deps, principal, body, gone }) {
        const asker = { holder: principal.api_key_id, gone: gone() }
        const query = toDifferenceQuery(body)
        const found = await deps.reads.differences(principal.workspace_id, query, asker)
        return { body: { ...found, differences: found.differences.map((one) => ({ ...one })) } }
      },
    }),
  ]
}

function toDifferenceQuery(body: SchemaTypes['trace-run-difference-query']): TraceRunDifferenceQuery {
  const selected = defined({
    run_ids: uuidsOf(body.selected),
    start_time: bodyTime(body, 'selected_start_time'),
    end_time: bodyTime(body, 'selected_end_time'),
  })
  if (Object.keys(selected).length === 0 || selected.run_ids?.length === 0) {
    const message = 'needs at least one id, unless selected times are given'
    throw bodyFault([{ code: 'value_error', path: 'selected', message }])
  }
  const { limit: _limit, order: _order, ...query } = toTraceRunQuery(body)
  return { ...query, selected }
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
