import type { Issue } from '../../schema/issue.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Message } from '../../schema/types.gen.ts'
import type { Usage } from '../tokens/usage/record.ts'
import type { MappedSpan } from '../otel/map/span.ts'
import type { Lineage } from './lineage/lineage.ts'
import type { MergedTraceRun } from './merged-trace-run.ts'

/** A TraceRun with everything that is derived from its fragments. Times are epoch microseconds. */
export interface TraceRun extends Lineage {
  merged: MergedTraceRun
  /** The mapped span; undefined for a TraceRun that was not sent as an OpenTelemetry span. */
  mapped: MappedSpan | undefined
  id: string
  name: string
  run_type: string
  status: 'pending' | 'success' | 'error'
  /** The start time that was sent, otherwise the receive time. */
  start_time: number
  end_time: number | undefined
  first_token_time: number | undefined
  error: string | undefined
  tags: string[]
  metadata: JsonObject
  thread_id: string | undefined
  /** The key by which lists are ordered: the start time, or the receive time if the start is not plausible. */
  sort_time: number
  /** The TraceRun's own reported tokens and costs. For ended llm TraceRuns they include estimates. */
  usage: Usage
  /** The model of usage on a TraceRun that is no model call: a rerank, or a sum of calls; undefined without such usage. */
  called: { model: string | undefined; provider: string | undefined } | undefined
  /** Present on TraceRuns of type llm and embedding. */
  llm: LlmFacts | undefined
  issues: Issue[]
}

/** Additional facts of an llm or embedding TraceRun. */
export interface LlmFacts {
  provider: string | undefined
  model: string | undefined
  /** The model that the answer names, if it is another name than `model`. */
  answered_model: string | undefined
  /** Place at which the model name was found, e.g. `metadata.ls_model_name`. */
  model_source: string | undefined
  /** Whether the TraceRun shows a call, only a step of a framework, or a request whose answer is a separate span. */
  part: 'call' | 'step' | 'request'
  /** The id of the vendor's answer. */
  response_id: string | undefined
  input_format: string | undefined
  output_format: string | undefined
  input_messages: Message[]
  output_messages: Message[]
  checks: Checks
}

/** One of the four requirements of the interface: fulfilled, or the reason why not. */
export interface Verdict {
  ok: boolean
  reason?: string
}

/** The four requirements; each verdict is independent of the others (D-13). */
export interface Checks {
  run_type: Verdict
  format: Verdict
  model: Verdict
  usage: Verdict
}
