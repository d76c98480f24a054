import type { JsonValue } from '../../schema/json.ts'
import type { ValidationReport } from '../../schema/types.gen.ts'
import type { ReadBody, Rejected } from '../decode/decoded.ts'
import { deriveMerged } from './derive.ts'
import type { TraceRun } from './trace-run.ts'
import { type FragmentSource, fragmentsOf, gatherTraceRuns } from '../decode/gather-trace-runs.ts'
import { type LlmContext, deriveLlm } from './llm.ts'
import { parseLooseJson } from '../json/loose-json.ts'
import type { Side } from '../messages/processor.ts'
import { applicableChecks, CHECKS, NO_CHECKS, passesChecks, type ReportedChecks } from './verdicts.ts'

export type ReportedRun = ValidationReport['runs'][number]

/** What the runs of a report have in common, counted as they come. */
export interface ReportCounts {
  addRun(run: ReportedRun): void
  addRejected(): void
  summary(): ValidationReport['summary']
  /** False when something would be rejected, or an llm run fails a verdict (D-13). */
  isValid(): boolean
}

/** The validation report on the content of bodies: the runs with their verdicts and issues, and a summary. */
export function createReport(bodies: readonly ReadBody[], context: LlmContext): ValidationReport {
  const counts = createCounts()
  const source = fragmentsOf(Buffer.concat(bodies.map(({ rows }) => rows)))
  const runs = [...bodies.flatMap(({ judged }) => judged), ...reportRuns(source, context)]
  for (const run of runs) counts.addRun(run)
  const rejected = bodies.flatMap((body) => body.rejected)
  for (const _item of rejected) counts.addRejected()
  return {
    valid: counts.isValid(),
    summary: counts.summary(),
    runs,
    rejected: rejected.flatMap(reportRejected),
  }
}

/** Derives and reports the TraceRuns of a source, one after another. */
export function* reportRuns(source: FragmentSource, context: LlmContext): Generator<ReportedRun> {
  const { traceRuns, parentOf } = gatherTraceRuns(source)
  for (const merged of traceRuns()) yield reportRun(deriveMerged(merged, { ...context, parentOf }), context)
}

/** Every fault of an item that would be rejected. */
export function reportRejected({ run_id, further = [], ...first }: Rejected): ValidationReport['rejected'] {
  return [first, ...further].map(({ code, field, reason }) => ({ run_id, code, field, reason }))
}

function reportRun(traceRun: TraceRun, context: LlmContext): ReportedRun {
  const checks = checksOf(traceRun, context)
  const { llm, usage } = traceRun
  return {
    run_id: traceRun.id,
    name: traceRun.name,
    run_type: traceRun.run_type,
    valid: passesChecks(traceRun.run_type, checks),
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
 * The verdicts that apply to the TraceRun; null for the others. One of another type that names a provider and a model
 * as an llm one must may be a call without its run_type, so all four apply.
 */
function checksOf(traceRun: TraceRun, context: LlmContext): ReportedChecks {
  if (traceRun.llm !== undefined) return applicableChecks(traceRun.run_type, traceRun.llm.checks)
  const probe: TraceRun = { ...traceRun, issues: [] }
  deriveLlm(probe, sideOf(traceRun, 'inputs'), sideOf(traceRun, 'outputs'), context)
  const { checks } = probe.llm!
  return checks.model.ok ? checks : NO_CHECKS
}

function sideOf({ mapped, merged }: TraceRun, side: Side): JsonValue | undefined {
  const raw = merged.raw[side]
  return mapped?.[side]?.value ?? (raw && parseLooseJson(raw).value)
}

export function createCounts(): ReportCounts {
  const issues = { error: 0, warning: 0, info: 0 }
  const failed_checks = { run_type: 0, format: 0, model: 0, usage: 0 }
  const counts = { runs: 0, llm_runs: 0, valid: 0, invalid: 0, rejected: 0 }
  return {
    addRun(run) {
      counts.runs++
      counts[run.valid ? 'valid' : 'invalid']++
      for (const issue of run.issues) issues[issue.severity]++
      if (run.run_type !== 'llm') return
      counts.llm_runs++
      for (const check of CHECKS) if (run.checks[check]?.ok === false) failed_checks[check]++
    },
    addRejected: () => void counts.rejected++,
    summary: () => ({ ...counts, failed_checks, issues }),
    isValid: () => counts.invalid === 0 && counts.rejected === 0,
  }
}
