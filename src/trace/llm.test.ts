import { describe, expect, it } from 'vitest'
import { builtInProcessors } from '../../processors/index.ts'
import { requestHead } from '../../test/support/wire-body.ts'
import type { JsonValue } from '../schema/json.ts'
import { decodeRequest } from './decode.ts'
import { deriveTraceRun, type TraceRun } from './derive.ts'
import { createEstimates } from './estimator.ts'
import { readFragments } from './fragment.ts'
import type { LlmFacts } from './llm.ts'
import { createTokenizer } from './tokenizer.ts'

const context = {
  processors: builtInProcessors,
  startEstimate: createEstimates(createTokenizer()),
  parentOf: () => undefined,
}

/** What is derived of an llm TraceRun that has ended, with these fields. */
function llmOf(fields: object): LlmFacts {
  return traceRunOf(fields).llm!
}

function traceRunOf(fields: object): TraceRun {
  const record = {
    id: '01a1f83d-5201-7000-8000-00000000000a',
    name: 'call',
    run_type: 'llm',
    start_time: '2026-11-20T09:00:00Z',
    end_time: '2026-11-20T09:00:01Z',
    ...fields,
  }
  const { rows } = decodeRequest(requestHead({ kind: 'create' }), Buffer.from(JSON.stringify(record)))
  return deriveTraceRun([...readFragments(rows)], context)
}

describe('outputs that are bare text', () => {
  it.each<[string, JsonValue, string]>([
    ['alone', 'Four.', 'Four.'],
    ['as Python wraps it', { output: 'Four.' }, 'Four.'],
    ['as JavaScript wraps it', { outputs: 'Four.' }, 'Four.'],
    ['in pieces of a stream', { outputs: ['Fo', 'ur', '.'] }, 'Four.'],
  ])('LLM-2: are shown as what the model said, %s, and do not meet the format', (_, outputs, said) => {
    const { output_messages, output_format, checks } = llmOf({ outputs })
    expect(output_messages).toEqual([{ role: 'assistant', content: [{ type: 'text', text: said }] }])
    expect(output_format).toBeUndefined()
    expect(checks.format).toMatchObject({ ok: false, reason: expect.stringContaining('"role": "assistant"') })
  })

  it.each<[string, JsonValue]>([
    ['no text', { output: 4 }],
    ['text beside other things', { output: 'Four.', score: 1 }],
    ['nothing', { output: '' }],
  ])('LLM-2: are not %s', (_, outputs) => {
    const { output_messages, checks } = llmOf({ outputs })
    expect(output_messages).toEqual([])
    expect(checks.format.reason).toBe('outputs are in no recognised format')
  })
})

describe('a model that is named by a path', () => {
  it('LLM-3: is shown by its last segment, with the provider that the path names', () => {
    const path = 'projects/p/locations/l/publishers/google/models/gemini-2.5-flash'
    const { model, model_source, provider, checks } = llmOf({ extra: { metadata: { ls_model_name: path } } })
    expect({ model, model_source, provider }).toEqual({
      model: 'gemini-2.5-flash',
      model_source: 'metadata.ls_model_name',
      provider: 'google',
    })
    expect(checks.model).toMatchObject({ ok: false, reason: 'metadata has no ls_provider' })
  })

  it.each([
    ['meta-llama/Llama-3.3-70B-Instruct', 'meta-llama/Llama-3.3-70B-Instruct', undefined],
    ['models/my-tune', 'my-tune', undefined],
    ['arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc', undefined, undefined],
  ])('LLM-3: %s is %s', (sent, model, provider) => {
    expect(llmOf({ inputs: { model: sent } })).toMatchObject({ model: model ?? sent, provider })
  })
})

describe('the service tier that was asked for', () => {
  const usage = { input_tokens: 9, output_tokens: 2, total_tokens: 11 }
  const outputs = { role: 'assistant', content: 'Four.', usage_metadata: usage }
  const inputs = { messages: [{ role: 'user', content: 'Two and two?' }] }
  const invocation = { service_tier: 'flex' }

  it.each<[string, object]>([
    ['the parameters of the call', { invocation_params: invocation }],
    ['those that clients keep in the metadata', { metadata: { ls_invocation_params: invocation } }],
  ])('is that of %s', (_, extra) => {
    expect(traceRunOf({ inputs, outputs, extra }).usage.input_token_details).toEqual({ flex: 9 })
  })

  it('is not a key of the metadata, such as the tier of a customer that LangGraph copies from configurable', () => {
    const { usage: counted } = traceRunOf({ inputs, outputs, extra: { metadata: invocation } })
    expect(counted.input_token_details).toEqual({})
  })
})
