import type { ValidationReport } from '../../schema/types.gen.ts'
import type { ReportedRun } from '../../trace/derive/report.ts'
import type { Checks } from '../../trace/derive/trace-run.ts'
import { CHECKS } from '../../trace/derive/verdicts.ts'

export type RejectedItem = ValidationReport['rejected'][number]
export type ReportSummary = ValidationReport['summary']

/** Prints a report as it is made, so that it is never whole in memory. */
export interface ReportWriter {
  run(run: ReportedRun): void
  rejected(item: RejectedItem): void
  /** Must be called last, and only if there was anything to report. */
  end(valid: boolean, summary: ReportSummary): void
}

/** Instructions for meeting each requirement. */
export const FIXES: Readonly<Record<keyof Checks, string>> = {
  run_type: 'Send run_type "llm" for every call of a model.',
  format:
    'Send messages in a format that Weir supports (docs/protocol/llm-run.md), or add a processor of your own.',
  model:
    'Put ls_provider and ls_model_name into extra.metadata; on a span gen_ai.provider.name and gen_ai.request.model.',
  usage:
    'Put usage_metadata with input_tokens and output_tokens into outputs or into extra.metadata; on a span gen_ai.usage.input_tokens and gen_ai.usage.output_tokens. OpenAI counts a streamed call only with stream_options: {include_usage: true}.',
}

/** The verdicts that make a run invalid. */
export function failedChecks({ valid, checks }: ReportedRun): { name: keyof Checks; reason: string }[] {
  if (valid) return []
  return CHECKS.flatMap((name) => {
    const verdict = checks[name]
    return verdict === null || verdict.ok ? [] : [{ name, reason: verdict.reason ?? '' }]
  })
}
