import type OpenAI from 'openai'
import { expect } from 'vitest'
import { FIRST_PIECE_MS, WEATHER_CALL, WEATHER_REPLY } from '../../support/servers/vendors/fake-vendor.ts'
import type { ReadTraceRun } from './corpus/facts.ts'

/** All four checks of an llm TraceRun pass. */
export const ALL_OK = {
  run_type: { ok: true },
  format: { ok: true },
  model: { ok: true },
  usage: { ok: true },
}
/** All checks pass except usage, which the instrumentation does not send. */
export const ALL_BUT_USAGE = { ...ALL_OK, usage: { ok: false } }

/** A list with one text block, in the form of canonical messages. */
export const text = (said: string) => [{ type: 'text', text: said }]

/** The time to first token must be between the vendor's delay and the duration of the call. */
export function expectFirstToken(traceRun: ReadTraceRun): void {
  const first = traceRun.llm!.time_to_first_token_ms
  const whole = Date.parse(String(traceRun.end_time)) - Date.parse(traceRun.start_time)
  expect(first).toBeGreaterThanOrEqual(FIRST_PIECE_MS - 2)
  expect(first).toBeLessThanOrEqual(whole + 1)
}

export const HELLO: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'Hi there' },
]

export const WEATHER_TOOLS: OpenAI.ChatCompletionFunctionTool[] = [
  {
    type: 'function',
    function: {
      name: WEATHER_CALL.name,
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
]
/** The vendor's tool call as a canonical block. */
export const WEATHER_BLOCK = { type: 'tool_call', ...WEATHER_CALL }

const ASKED: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'Weather in Paris?' }
const CALLED: OpenAI.ChatCompletionMessageFunctionToolCall = {
  id: WEATHER_CALL.id,
  type: 'function',
  function: { name: WEATHER_CALL.name, arguments: JSON.stringify(WEATHER_CALL.args) },
}
/** The requests of an agent: the question, then the question with the tool's result. */
export const WEATHER_ROUNDS: OpenAI.ChatCompletionMessageParam[][] = [
  [ASKED],
  [
    ASKED,
    { role: 'assistant', content: null, tool_calls: [CALLED] },
    { role: 'tool', tool_call_id: WEATHER_CALL.id, content: '18 degrees, sunny' },
  ],
]

/** The expected model calls for these requests; all have the checks `checks`. */
export function weatherCalls(checks: object): object[] {
  return [
    { messages: { output: [{ role: 'assistant', content: [WEATHER_BLOCK] }] }, checks },
    {
      messages: {
        input: [
          { role: 'user', content: text('Weather in Paris?') },
          { role: 'assistant', content: [WEATHER_BLOCK] },
          { role: 'tool', tool_call_id: WEATHER_CALL.id, content: text('18 degrees, sunny') },
        ],
        output: [{ role: 'assistant', content: text(WEATHER_REPLY) }],
      },
      checks,
    },
  ]
}
