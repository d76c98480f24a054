import { PART_FIELDS } from '../../../trace/otel/span/parts.ts'
import { spanUuid } from '../../../trace/otel/span/ids.ts'
import type { ClickHouse } from '../connect.ts'
import { deleteFragments } from '../fragments/delete-fragments.ts'
import { fragmentsSql } from '../fragments/fragments-sql.ts'
import { namedRuns, type RunSet } from './run-set.ts'

const fieldOf = (name: string): string => `JSONExtractString(head, '${name}')`
const [TRACE, OWNER] = [fieldOf(PART_FIELDS.trace), fieldOf(PART_FIELDS.alias)]

interface Part {
  run_id: string
  trace: string
  owner: string
}

/**
 * Deletes the parts of these TraceRuns that are stored under the ids of their spans (see SpanParts): log records have
 * payloads, and no row leads to them. Must be called before the fragments of the TraceRuns are deleted, because only
 * these name the spans.
 */
export async function deleteSpanParts(
  clickhouse: ClickHouse,
  { ofRuns, params }: RunSet,
  run_ids: readonly string[],
): Promise<void> {
  const spans = await clickhouse.rows<{ span_id: string }>(
    fragmentsSql({
      columns: `DISTINCT ${fieldOf('span_id')} AS span_id`,
      ofRuns,
      where: [`${fieldOf('span_id')} != ''`],
    }),
    { params },
  )
  const own = new Set(run_ids)
  const aliases = spans.map(({ span_id }) => spanUuid(span_id)).filter((id) => !own.has(id))
  if (aliases.length === 0) return
  const named = namedRuns(params.workspace_id, aliases)
  const parts = await clickhouse.rows<Part>(
    fragmentsSql({
      columns: `DISTINCT run_id, ${TRACE} AS trace, ${OWNER} AS owner`,
      ofRuns: named.ofRuns,
      where: [`(${TRACE} != '' OR ${OWNER} != '')`],
    }),
    { params: named.params },
  )
  // A root has the id of its trace. Other TraceRuns are named by the alias of their span.
  const owners = new Set(parts.filter(({ owner }) => own.has(owner)).map(({ run_id }) => run_id))
  const gone = parts.filter(
    ({ run_id, trace, owner }) => own.has(trace) || own.has(owner) || owners.has(run_id),
  )
  if (gone.length === 0) return
  const distinct = (values: readonly string[]): string[] => [...new Set(values)]
  const runs = namedRuns(params.workspace_id, distinct(gone.map(({ run_id }) => run_id)))
  await deleteFragments(clickhouse, runs, {
    only: {
      sql: `(has({traces:Array(String)}, ${TRACE}) OR has({owners:Array(String)}, ${OWNER}))`,
      params: {
        traces: distinct(gone.flatMap(({ trace }) => trace || [])),
        owners: distinct(gone.flatMap(({ owner }) => (own.has(owner) ? owner : []))),
      },
    },
  })
}
