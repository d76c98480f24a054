import { isObject, type JsonObject } from '../schema/json.ts'
import type { TraceReads } from './trace-reads.ts'

const TOTALS = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_cost',
  'completion_cost',
  'total_cost',
]

/** Returns a function that reads tokens and cost below a TraceRun. */
export function totalsReader(reads: Pick<TraceReads, 'query'>) {
  return async (
    { workspace_id }: { workspace_id: string },
    { trace_id, run_id }: { trace_id: string; run_id: string },
  ): Promise<JsonObject | null> => {
    const query = { trace: trace_id, select: TOTALS, limit: 1, order: 'desc' } as const
    const answer: unknown = JSON.parse(
      new TextDecoder().decode(await reads.query(workspace_id, { ...query, id: [run_id] })),
    )
    const found = isObject(answer) && Array.isArray(answer['runs']) ? answer['runs'][0] : undefined
    if (!isObject(found)) return null
    return Object.fromEntries(TOTALS.map((field) => [field, found[field] ?? null]))
  }
}
