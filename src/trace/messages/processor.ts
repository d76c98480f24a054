import type { Issue } from '../../schema/issue.ts'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { Message, UsageMetadata } from '../../schema/types.gen.ts'

/** The half of a TraceRun that a processor reads. */
export type Side = 'inputs' | 'outputs'

/** Facts about a TraceRun besides the side itself. They distinguish formats with the same shape. */
export interface Hints {
  run_type: string
  /** `metadata.ls_provider` as sent. */
  provider: string | undefined
  /** Model by the precedence of the interface, if metadata or inputs name it. */
  model: string | undefined
  /** `extra.metadata`, never undefined. */
  metadata: JsonObject
  /** Name of the processor chosen for the inputs; undefined while the inputs themselves are read. */
  inputs_format: string | undefined
  /** The name of the built-in processor for the telemetry of the span, if the side was built from a span. */
  dialect?: string
}

/** One side in canonical form. Paths in `issues` are relative to the value that was given. */
export interface Normalized {
  /** Messages in the interface's LangChain-style format, in their order. */
  messages: Message[]
  /** Tool definitions offered to the model, as sent; counted when input tokens are estimated. */
  tools?: JsonValue
  /** Model name in this format, used if metadata and inputs name none. */
  model?: string
  provider?: string
  /** Counts that only this format knows, used if no other place has counts. The built-in formats leave it out. */
  usage?: UsageMetadata
  issues: Issue[]
}

/**
 * Reads one message format: converts one side of an llm TraceRun to canonical messages. The built-in processors are in
 * `processors/`; a user's processors are loaded from `PROCESSORS=./my.js`.
 *
 * Both functions are pure, never throw and never change what they are given.
 */
export interface Processor {
  /** Stable kebab-case name: stored as `input_format` / `output_format` and shown in reports. */
  readonly name: string
  /** Returns 0 for another format, 1 if the shape fits, 2 if the format is certain. Reads only a few keys. */
  match(side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2
  normalize(side: Side, value: JsonValue, hints: Hints): Normalized
}
