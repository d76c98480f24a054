import type { JsonValue } from '../../schema/json.ts'
import { word } from '../../schema/json.ts'
import { plainText } from './choose.ts'
import type { Checks, LlmFacts, TraceRun, Verdict } from './trace-run.ts'

/** The four requirements, in the order of their bits in stored rows. */
export const CHECKS = ['run_type', 'format', 'model', 'usage'] as const satisfies (keyof Checks)[]

/** The verdicts of a report; null for one that does not apply. */
export type ReportedChecks = Record<keyof Checks, Verdict | null>

/** The verdicts of a TraceRun that is no call of a model. */
export const NO_CHECKS: ReportedChecks = { run_type: null, format: null, model: null, usage: null }

/** The verdicts that apply to an llm or embedding TraceRun; an embedding has no messages. */
export function applicableChecks(run_type: string, checks: Checks): ReportedChecks {
  return run_type === 'llm' ? checks : { ...checks, run_type: null, format: null }
}

/** An llm TraceRun that fails a verdict is not valid (D-13). */
export function passesChecks(run_type: string, checks: ReportedChecks): boolean {
  return run_type !== 'llm' || CHECKS.every((check) => checks[check]?.ok !== false)
}

const OK: Verdict = { ok: true }

interface Evidence {
  inputs: JsonValue | undefined
  outputs: JsonValue | undefined
  /** Encoding of an estimate, if one was made. */
  encoding: string | undefined
  /** Whether the vendor refused the call, so that it counted nothing (D-60). */
  isRefused: boolean
}

/** The verdicts on an llm TraceRun, whose facts, usage and issues must be complete. */
export function judge(traceRun: TraceRun, llm: LlmFacts, evidence: Evidence): Checks {
  return {
    run_type: traceRun.run_type === 'llm' ? OK : fail(`run_type is ${traceRun.run_type}, not llm`),
    format: judgeFormat(traceRun, llm, evidence),
    model: judgeModel(traceRun, llm),
    usage: evidence.isRefused ? OK : judgeUsage(traceRun, evidence.encoding),
  }
}

function judgeFormat(traceRun: TraceRun, llm: LlmFacts, { inputs, outputs }: Evidence): Verdict {
  if (inputs === undefined && outputs === undefined) return fail('neither inputs nor outputs were sent')
  if (inputs !== undefined && llm.input_format === undefined)
    return fail('inputs are in no recognised format')
  if (outputs !== undefined && llm.output_format === undefined) return fail(unknownOutputs(outputs))
  const fault = traceRun.issues.find(
    (issue) => issue.severity === 'error' && /^(inputs|outputs)\b/.test(issue.path),
  )
  return fault ? fail(`${fault.path}: ${fault.message}`) : OK
}

function unknownOutputs(outputs: JsonValue): string {
  if (plainText(outputs) === undefined) return 'outputs are in no recognised format'
  return 'outputs are bare text, which is no message: return {"role": "assistant", "content": "…"} instead'
}

function judgeModel({ metadata }: TraceRun, llm: LlmFacts): Verdict {
  const missing = ['ls_provider', 'ls_model_name'].filter((key) => word(metadata[key]) === undefined)
  if (missing.length === 0) return OK
  const found =
    missing.includes('ls_model_name') && llm.model !== undefined
      ? `; the model ${llm.model} was found in ${llm.model_source}`
      : ''
  return fail(`metadata has no ${missing.join(' and no ')}${found}`)
}

function judgeUsage({ usage, status, run_type }: TraceRun, encoding: string | undefined): Verdict {
  const { input } = usage.source
  const output = run_type === 'embedding' ? (usage.source.output ?? input) : usage.source.output
  const reported = (source: string | null) => source === 'client' || source === 'vendor'
  if (reported(input) && reported(output)) return OK
  const estimated = encoding === undefined ? '' : `; estimated with ${encoding}`
  if (input === null && output === null)
    return fail(status === 'pending' ? 'no usage_metadata yet' : 'no usage_metadata')
  if (!reported(input) && !reported(output)) return fail(`no usage_metadata${estimated}`)
  return fail(`no count of ${reported(input) ? 'output' : 'input'} tokens${estimated}`)
}

function fail(reason: string): Verdict {
  return { ok: false, reason }
}
