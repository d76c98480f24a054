import { llmOf } from '../llm-facts.ts'
import type { TraceRunRead as ReadRun } from '../../api/platform.gen.ts'
import type { CallResult } from './answer.ts'

/** The figures by which two calls are compared; an unknown figure is undefined. */
export interface CallFigures {
  first_token_ms: number | undefined
  duration_ms: number | undefined
  input_tokens: number | undefined
  output_tokens: number | undefined
  /** Dollars as a decimal text. */
  cost: string | undefined
  /** Number of its calls that have no price. */
  unpriced: number
}

function millisOf(from: string | null | undefined, to: string | null | undefined): number | undefined {
  const span = Date.parse(to ?? '') - Date.parse(from ?? '')
  return Number.isFinite(span) ? span : undefined
}

export function figuresOfRun(run: ReadRun): CallFigures {
  const first = llmOf(run)?.time_to_first_token_ms
  return {
    first_token_ms: first ?? millisOf(run.start_time, run.first_token_time),
    duration_ms: millisOf(run.start_time, run.end_time),
    input_tokens: run.prompt_tokens ?? undefined,
    output_tokens: run.completion_tokens ?? undefined,
    cost: run.total_cost ?? undefined,
    unpriced: run.unpriced_runs ?? 0,
  }
}

/** The figures of a call; its cost is known once its trace is stored. */
export function figuresOfCall(result: CallResult, traced: ReadRun | undefined): CallFigures {
  return {
    first_token_ms: result.first_token_ms ?? undefined,
    duration_ms: result.duration_ms,
    input_tokens: result.input_tokens ?? traced?.prompt_tokens ?? undefined,
    output_tokens: result.output_tokens ?? traced?.completion_tokens ?? undefined,
    cost: traced?.total_cost ?? undefined,
    unpriced: traced?.unpriced_runs ?? 0,
  }
}
