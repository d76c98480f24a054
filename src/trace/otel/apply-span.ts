import { text } from '../../schema/json.ts'
import { type MergedTraceRun, metadataOf } from '../merge.ts'
import { parseTime } from '../time.ts'
import { type MappedSpan, mapSpan } from './map-span.ts'
import { spanOf } from './span.ts'

/** What the span says that a TraceRun came as; undefined for TraceRuns of the native wire. */
export function mapMerged(merged: MergedTraceRun): MappedSpan | undefined {
  const span = spanOf(merged)
  if (span === undefined) return undefined
  return mapSpan(span, {
    start: parseTime(merged.head['start_time']),
    end: parseTime(merged.head['end_time']),
  })
}

/** The merged record with the span's words in the fields of a TraceRun; what came by the native wire wins. */
export function withSpan(merged: MergedTraceRun, mapped: MappedSpan): MergedTraceRun {
  const { head, extra } = merged
  const { invocation_params, reference_example_id } = mapped
  return {
    ...merged,
    head: {
      ...head,
      name: mapped.name,
      run_type: text(head['run_type']) ?? mapped.run_type,
      tags: head['tags'] ?? mapped.tags,
      ...(reference_example_id === undefined ? {} : { reference_example_id }),
    },
    extra: {
      ...(invocation_params === undefined ? {} : { invocation_params }),
      ...extra,
      metadata: { ...mapped.metadata, ...metadataOf(merged) },
    },
  }
}
