import { parseUuid } from '../../base/ids.ts'
import { type JsonObject, isObject, text } from '../../schema/json.ts'
import { parseDottedOrder } from '../derive/lineage/dotted-order.ts'
import type { Blob } from './decoded.ts'
import { PART_FIELDS } from '../otel/span/parts.ts'
import { RANK, type StoredFragment, readFragments } from '../rows/fragment.ts'

/** The trace that an operation itself names, as `trace_id` or as the beginning of its `dotted_order`. */
export function namedTrace(head: JsonObject | undefined): string | undefined {
  const named = parseUuid(head?.['trace_id'])
  if (named !== undefined) return named
  const order = text(head?.['dotted_order'])
  const parsed = order === undefined ? undefined : parseDottedOrder(order)
  return parsed?.ok ? parsed.segments[0]?.id : undefined
}

/**
 * The trace whose deletion concerns an operation: the one that it names, or that of the span to which a log record
 * belongs.
 */
export function concernedTrace(head: JsonObject | undefined): string | undefined {
  return namedTrace(head) ?? parseUuid(head?.[PART_FIELDS.trace])
}

/** The traces that these operations (fragments as RowBinary rows) name, and those whose root they create. */
export function tracesOf(rows: Uint8Array): Set<string> {
  const traces = new Set<string>()
  for (const fragment of readFragments(rows)) {
    const trace = traceOf(fragment)
    if (trace !== undefined) traces.add(trace)
  }
  return traces
}

/**
 * The rows of the operations that belong to none of `traces`, and their number. Operations of an unknown trace are
 * kept.
 */
export function withoutTraces(
  rows: Uint8Array,
  traces: ReadonlySet<string>,
): { rows: Uint8Array; count: number } {
  const kept: Uint8Array[] = []
  for (const fragment of readFragments(rows)) {
    const trace = traceOf(fragment)
    if (trace === undefined || !traces.has(trace)) kept.push(fragment.row)
  }
  return { rows: Buffer.concat(kept), count: kept.length }
}

/** Those of `blobs` to which the attachments of these operations refer. */
export function blobsOf(rows: Uint8Array, blobs: readonly Blob[]): Blob[] {
  if (blobs.length === 0) return []
  const named = new Set<string>()
  for (const { attachments } of readFragments(rows))
    for (const sha256 of Buffer.from(attachments)
      .toString()
      .match(/[0-9a-f]{64}/g) ?? [])
      named.add(sha256)
  return blobs.filter(({ sha256 }) => named.has(sha256))
}

/**
 * The trace of an operation; undefined if the operation does not name it, only changes an existing TraceRun, or is a
 * span that a filter left out.
 */
function traceOf({ head, rank, run_id }: StoredFragment): string | undefined {
  if (rank === RANK.filtered) return undefined
  const fields: unknown = head.length === 0 ? {} : JSON.parse(Buffer.from(head).toString())
  if (!isObject(fields)) return undefined
  const isRoot = rank === RANK.create && parseUuid(fields['parent_run_id']) === undefined
  return namedTrace(fields) ?? (isRoot ? run_id : undefined)
}
