import type { Clock } from '../base/clock.ts'
import { newUuid } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../schema/json.ts'
import { dottedSegment } from '../trace/derive/lineage/dotted-order.ts'
import type { ModelAnswer } from './answer.ts'
import { sentFields, type ModelCall, withExtra } from './providers/provider.ts'

export const PLAYGROUND_PROJECT = 'playground'

/** The key in the metadata of a call's trace for the latest end of the call, ISO 8601. */
export const CALL_ENDS_BY = 'call_ends_by'

/** The caller under whom a trace is stored and counted. */
export interface TraceCaller {
  workspace_id: string
  user_id: string | null
  api_key_id: string
}

export interface TraceRecorder {
  /** Stores the body of `POST /runs/batch`. Never throws. */
  record(caller: TraceCaller, body: Uint8Array): void
}

/** The facts about a call that its trace shows. */
export interface TracedCall {
  call: ModelCall
  ls_provider: string
  source_run_id: string | undefined
  /** Time limit of the call. */
  max_ms: number
}

export interface CallTrace {
  run_id: string
  /** ISO 8601. */
  start_time: string
  /** Null until the first part of the answer has arrived. */
  first_token_ms: number | null
  /** Milliseconds since the start; after `end`, of the whole call. */
  duration_ms: number
  /** Must be called when the first part of the answer has arrived; later calls have no effect. */
  began(): void
  /** Stores the rest of the trace; `error` is the message of a failed call. */
  end(answer: ModelAnswer, error: string | undefined): void
}

const US_PER_MS = 1000

/** Stores the beginning of a trace: a running TraceRun of type llm. */
export function traceCall(
  traces: TraceRecorder,
  caller: TraceCaller,
  traced: TracedCall,
  clock: Clock,
): CallTrace {
  const run_id = newUuid()
  const started = clock.now()
  const start_time = new Date(started).toISOString()
  const place = { id: run_id, trace_id: run_id, dotted_order: dottedSegment(started * US_PER_MS, run_id) }
  const from = performance.now()
  const elapsed = (): number => Math.round(performance.now() - from)
  const record = (batch: JsonObject): void => traces.record(caller, Buffer.from(JSON.stringify(batch)))
  record({
    post: [{ ...place, start_time, session_name: PLAYGROUND_PROJECT, ...headOf(traced, started) }],
    patch: [],
  })
  return {
    run_id,
    start_time,
    first_token_ms: null,
    duration_ms: 0,
    began() {
      this.first_token_ms ??= elapsed()
    },
    end(answer, error) {
      this.duration_ms = elapsed()
      const at = (ms: number): string => new Date(started + ms).toISOString()
      const end = {
        ...place,
        session_name: PLAYGROUND_PROJECT,
        end_time: at(this.duration_ms),
        outputs: outputsOf(answer),
        error,
        events: this.first_token_ms === null ? [] : [{ name: 'new_token', time: at(this.first_token_ms) }],
      }
      record({ post: [], patch: [sentFields(end)] })
    },
  }
}

function headOf({ call, ls_provider, source_run_id, max_ms }: TracedCall, started: number): JsonObject {
  const { model, messages, tools, tool_choice, output_schema, parameters } = call
  const { temperature, top_p, max_tokens, stop, seed, extra } = parameters
  return {
    name: model,
    run_type: 'llm',
    inputs: { messages: messages.map((message) => ({ ...message }) as JsonObject) },
    tags: [PLAYGROUND_PROJECT],
    extra: {
      metadata: sentFields({
        ls_provider,
        ls_model_name: model,
        ls_model_type: 'chat',
        ls_temperature: temperature,
        ls_max_tokens: max_tokens,
        ls_stop: stop && [...stop],
        source_run_id,
        [CALL_ENDS_BY]: new Date(started + max_ms).toISOString(),
      }),
      invocation_params: withExtra(extra, {
        model,
        temperature,
        top_p,
        max_tokens,
        stop: stop && [...stop],
        seed,
        tools: tools.length === 0 ? undefined : tools.map((tool) => sentFields({ ...tool })),
        tool_choice: tools.length === 0 ? undefined : tracedChoice(tool_choice),
        response_format: output_schema && { type: 'json_schema', json_schema: { schema: output_schema } },
      }),
    },
  }
}

function tracedChoice(choice: ModelCall['tool_choice']): JsonValue {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
}

/** The outputs of a call; undefined if nothing arrived. */
function outputsOf(answer: ModelAnswer): JsonObject | undefined {
  const { message, usage_metadata, finish_reason, model, id, hasBegun } = answer
  if (!hasBegun && usage_metadata === undefined) return undefined
  return sentFields({
    messages: [message as unknown as JsonObject],
    usage_metadata,
    finish_reason,
    model,
    id,
  })
}
