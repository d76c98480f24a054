import fc from 'fast-check'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import { NO_CALL, REQUEST, UNANSWERED } from '../../../src/trace/derive/same-call.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { START, traceRunRow } from '../stores/clickhouse/trace-store.ts'

/** Usage of a TraceRun of any type; only llm and embedding have tokens. */
const usage = fc.record(
  {
    input_tokens: fc.integer({ min: 0, max: 5000 }),
    output_tokens: fc.integer({ min: 0, max: 5000 }),
    input_cost: fc.bigInt({ min: 0n, max: 10n ** 37n }),
    output_cost: fc.bigInt({ min: 0n, max: 10n ** 19n }),
    total_cost: fc.bigInt({ min: 0n, max: 10n ** 37n }),
    input_source: fc.constantFrom('', 'vendor', 'estimate'),
    output_source: fc.constantFrom('', 'vendor', 'estimate'),
    sent_costs: fc.integer({ min: 0, max: 7 }),
  },
  { requiredKeys: [] },
)
const node = fc.record({
  /** Selects the parent among the earlier TraceRuns. The first TraceRun is the root. */
  parent: fc.nat(),
  run_type: fc.constantFrom('llm', 'llm', 'chain', 'embedding', 'tool'),
  status: fc.constantFrom('success', 'error', 'pending'),
  usage,
  /** Few different ids, so that several TraceRuns often show the same call. */
  call_id: fc.constantFrom(0, 0, NO_CALL, REQUEST, 7, 7, UNANSWERED + 7),
  call_facts: fc.constantFrom(0, 64, 138, 139, 168),
  /** In microseconds after START. */
  start: fc.integer({ min: 0, max: 4 }),
  length: fc.option(fc.integer({ min: 0, max: 4 })),
  name: fc.constantFrom('plan', 'act'),
  tags: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
  first_token: fc.option(fc.integer({ min: 0, max: 9 })),
})
export type Node = typeof node extends fc.Arbitrary<infer T> ? T : never
/** Up to four traces. */
export const forest = fc.array(fc.array(node, { minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 4,
})

export function rowsOf(project_id: string, nodes: readonly Node[]): TraceRunRow[] {
  const rows: TraceRunRow[] = []
  for (const node of nodes) {
    const { parent, run_type, status, usage: bears, call_id, call_facts, start, length } = node
    const run_id = newUuid()
    const above = rows.length === 0 ? undefined : rows[parent % rows.length]!
    const segment = dottedSegment(START, run_id)
    const { input_tokens: _input, output_tokens: _output, ...costs } = bears
    const counts = run_type === 'llm' || run_type === 'embedding' ? bears : costs
    rows.push({
      ...traceRunRow(1, { project_id, run_type, status, ...counts }),
      ...(run_type === 'llm' ? { call_id, call_facts } : {}),
      name: node.name,
      tags: node.tags,
      metadata: { env: node.name },
      model: run_type === 'llm' ? `model-${node.tags.length}` : '',
      first_token_time:
        run_type === 'llm' && node.first_token !== null ? START + start + node.first_token : null,
      start_time: START + start,
      end_time: length === null ? null : START + start + length,
      run_id,
      trace_id: rows[0]?.run_id ?? run_id,
      parent_run_id: above?.run_id ?? NIL_UUID,
      dotted_order: above === undefined ? segment : `${above.dotted_order}.${segment}`,
    })
  }
  return rows
}
