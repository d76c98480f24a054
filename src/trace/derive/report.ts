import type { JsonValue } from '../../schema/json.ts'
import type { ValidationReport } from '../../schema/types.gen.ts'
import type { Rejected } from '../decode/decoded.ts'
import { carriesUsage, deriveMerged } from './derive.ts'
import type { TraceRun } from './trace-run.ts'
import { gatherTraceRuns } from '../decode/gather-trace-runs.ts'
import { type LlmContext, deriveLlm } from './llm.ts'
import { parseLooseJson } from '../json/loose-json.ts'
import type { Side } from '../messages/processor.ts'
import { CHECKS } from './verdicts.ts'
import type { Checks } from './trace-run.ts'

type ReportedRun = ValidationReport['runs'][number]

/**
 * The validation report on decoded fragments: for each TraceRun the four verdicts and every issue, and a summary. A
 * TraceRun is valid unless it is rejected, or is of type llm and fails a verdict (D-13).
 */
export function createReport(
  rows: Uint8Array,
  rejected: readonly Rejected[],
  context: LlmContext,
): ValidationReport {
  const { traceRuns, parentOf } = gatherTraceRuns(rows)
  const runs = traceRuns.map((merged) => reportRun(deriveMerged(merged, { ...context, parentOf }), context))
  return {
    valid: rejected.length === 0 && runs.every((run) => run.valid),
    summary: summarize(runs, rejected.length),
    runs,
    rejected: rejected.flatMap(({ run_id, further = [], ...first }) =>
      [first, ...further].map(({ code, field, reason }) => ({ run_id, code, field, reason })),
    ),
  }
}

function reportRun(traceRun: TraceRun, context: LlmContext): ReportedRun {
  const isLlm = traceRun.run_type === 'llm'
  const checks = checksOf(traceRun, context)
  const { llm, usage } = traceRun
  return {
    run_id: traceRun.id,
    name: traceRun.name,
    run_type: traceRun.run_type,
    valid: !isLlm || CHECKS.every((check) => checks[check].ok),
    checks,
    provider: llm?.provider ?? null,
    model: llm?.model ?? null,
    model_source: llm?.model_source ?? null,
    input_format: llm?.input_format ?? null,
    output_format: llm?.output_format ?? null,
    input_tokens: usage.input_tokens ?? null,
    output_tokens: usage.output_tokens ?? null,
    usage_source: usage.source,
    issues: traceRun.issues.map((issue) => ({ ...issue })),
  }
}

/**
 * The four verdicts, even for types other than llm, so that the report on a TraceRun without a run_type also lists
 * its other faults.
 */
function checksOf(traceRun: TraceRun, context: LlmContext): Checks {
  if (!carriesUsage(traceRun.run_type)) {
    const probe: TraceRun = { ...traceRun, issues: [] }
    deriveLlm(probe, sideOf(traceRun, 'inputs'), sideOf(traceRun, 'outputs'), context)
    return probe.llm!.checks
  }
  return traceRun.llm!.checks
}

function sideOf({ mapped, merged }: TraceRun, side: Side): JsonValue | undefined {
  const raw = merged.raw[side]
  return mapped?.[side]?.value ?? (raw && parseLooseJson(raw).value)
}

function summarize(runs: readonly ReportedRun[], rejected: number): ValidationReport['summary'] {
  const issues = { error: 0, warning: 0, info: 0 }
  for (const run of runs) for (const issue of run.issues) issues[issue.severity]++
  const llm = runs.filter((run) => run.run_type === 'llm')
  return {
    runs: runs.length,
    llm_runs: llm.length,
    valid: runs.filter((run) => run.valid).length,
    invalid: runs.filter((run) => !run.valid).length,
    rejected,
    failed_checks: Object.fromEntries(
      CHECKS.map((check) => [check, llm.filter((run) => !run.checks[check].ok).length]),
    ) as Record<keyof Checks, number>,
    issues,
  }
}
