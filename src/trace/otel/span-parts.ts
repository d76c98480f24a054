import { parseUuid } from '../../base/ids.ts'
import { type JsonObject, text } from '../../schema/json.ts'
import type { MergedTraceRun } from '../merge.ts'
import { spanUuid } from './span-ids.ts'

/**
 * Some fragments are filed under a span's own id while its TraceRun has another (the root has the trace's, a client
 * may send one): log records, which know no more than trace and span id, and the alias that such a span leaves for
 * those who look for it. By themselves they make no TraceRun.
 */
export interface SpanParts {
  /** TraceRuns that they may belong to. */
  owners: string[]
  span_id: string
}

/** Fields of a head that name what a part belongs to. */
export const PART_FIELDS = { trace: 'otel_trace_id', alias: 'alias_of' } as const

/** True for the head of a fragment that is a part only. */
export function isPartHead(head: JsonObject): boolean {
  return head[PART_FIELDS.trace] !== undefined || head[PART_FIELDS.alias] !== undefined
}

/** What `merged` is a part of; undefined when it is a TraceRun of its own. */
export function spanParts(merged: MergedTraceRun): SpanParts | undefined {
  const { head, created } = merged
  const span_id = text(head['span_id'])
  const owners = Object.values(PART_FIELDS).flatMap((field) => parseUuid(head[field]) ?? [])
  if (created || span_id === undefined || owners.length === 0) return undefined
  return { owners, span_id }
}

/** The id under which parts of this TraceRun may be filed, if it is another than its own. */
export function aliasOf(merged: MergedTraceRun): string | undefined {
  const span_id = text(merged.head['span_id'])
  if (!merged.created || span_id === undefined) return undefined
  const alias = spanUuid(span_id)
  return alias === merged.id ? undefined : alias
}
