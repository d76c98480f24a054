import { text } from '../../../schema/json.ts'
import { metadataOf } from '../../derive/merge.ts'
import type { MergedTraceRun } from '../../derive/merged-trace-run.ts'
import { parseTime } from '../../derive/time.ts'
import { type MappedSpan, mapSpan } from '../map/span.ts'
import { spanOf } from './span.ts'

/** The mapped span of a TraceRun that was sent as a span; undefined for a TraceRun from LangSmith's API. */
export function mapMerged(merged: MergedTraceRun): MappedSpan | undefined {
  const span = spanOf(merged)
  if (span === undefined) return undefined
  return mapSpan(span, {
    start: parseTime(merged.head['start_time']),
    end: parseTime(merged.head['end_time']),
  })
}

/** The merged record with the values of the mapped span. Fields that LangSmith's API received are kept. */
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
