import { describe, expect, it } from 'vitest'
import type { Issue } from '../../../schema/issue.ts'
import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import { reportedUsage } from './usage.ts'

function usageOf(outputs: JsonValue, metadata: JsonObject = {}) {
  const issues: Issue[] = []
  const {
    input_tokens: input,
    output_tokens: output,
    ...rest
  } = reportedUsage(outputs, metadata, issues, { run_type: 'llm' })
  return { input, output, ...rest, issues: issues.map((issue) => issue.code) }
}

describe('where counts are found', () => {
  it('uses the output before the metadata, and the metadata before the vendor', () => {
    const metadata = { usage_metadata: { input_tokens: 100, output_tokens: 20 } }
    const own = { input_tokens: 7, output_tokens: 3 }
    expect(usageOf({ usage_metadata: own }, metadata)).toMatchObject({ input: 7, output: 3 })
    expect(usageOf({ usage: { prompt_tokens: 1, completion_tokens: 2 } }, metadata)).toMatchObject({
      input: 100,
      output: 20,
      source: { input: 'client' },
    })
    expect(usageOf({ usage: { prompt_tokens: 1, completion_tokens: 2 } })).toMatchObject({
      input: 1,
      output: 2,
      source: { output: 'vendor' },
    })
  })

  it('names of units and conditions are those that rows can have, and units are numbers that can be priced', () => {
    const long = 'x'.repeat(129)
    const usage = usageOf({
      usage_metadata: {
        input_tokens: 1,
        output_tokens: 1,
        units: { pages: 2.5, vast: 1e300, [long]: 1 },
        conditions: { models: 'gpt', speed: 'fast', [long]: 'x' },
      },
    })
    expect(usage).toMatchObject({ units: { pages: 2.5 }, conditions: { speed: 'fast' } })
    expect(Object.keys({ ...usage.units, ...usage.conditions })).toEqual(['pages', 'speed'])
  })

  it('uses costs of the metadata if the output has counts only', () => {
    const usage = usageOf(
      { usage_metadata: { input_tokens: 1, output_tokens: 1 } },
      { usage_metadata: { total_cost: '0.5' } },
    )
    expect(usage.total_cost).toBe(5n * 10n ** 17n)
  })

  it.each<[string, JsonObject, object]>([
    [
      'OpenAI',
      { usage: { prompt_tokens: 25, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 5 } } },
      { input: 25, output: 9, input_token_details: { cache_read: 5 } },
    ],
    [
      'Anthropic, cache beside the input',
      {
        usage: {
          input_tokens: 60,
          output_tokens: 75,
          cache_read_input_tokens: 2000,
          cache_creation_input_tokens: 500,
        },
      },
      { input: 2560, output: 75 },
    ],
    [
      'a gateway that gives Anthropic OpenAI names',
      {
        usage: {
          prompt_tokens: 1000,
          completion_tokens: 10,
          total_tokens: 1010,
          cache_read_input_tokens: 0,
          cache_creation_input_tokens: 0,
        },
      },
      { input: 1000, output: 10 },
    ],
    [
      'Gemini',
      { usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 12, thoughtsTokenCount: 40 } },
      { input: 30, output: 52, output_token_details: { reasoning: 40 } },
    ],
    [
      'Gemini from Python',
      { usage_metadata: { prompt_token_count: 30, candidates_token_count: 12 } },
      { input: 30, output: 12 },
    ],
    [
      'Gemini with thoughts and results of tools',
      {
        usageMetadata: {
          promptTokenCount: 10,
          candidatesTokenCount: 5,
          toolUsePromptTokenCount: 100,
          thoughtsTokenCount: 20,
          cachedContentTokenCount: 4,
          totalTokenCount: 135,
          promptTokensDetails: [
            { modality: 'TEXT', tokenCount: 3 },
            { modality: 'AUDIO', tokenCount: 7 },
          ],
        },
      },
      {
        input: 110,
        output: 25,
        input_token_details: { cache_read: 4, audio: 7 },
        output_token_details: { reasoning: 20 },
        issues: [],
      },
    ],
    [
      'Ollama',
      {
        message: { role: 'assistant', content: 'Hi' },
        done: true,
        prompt_eval_count: 26,
        eval_count: 298,
        eval_duration: 4_799_921_000,
      },
      { input: 26, output: 298, source: { input: 'vendor', output: 'vendor' }, issues: [] },
    ],
    [
      'Ollama without the prompt, which was in its cache',
      { output: { response: 'Hi', done: true, eval_count: 2 } },
      { input: undefined, output: 2, source: { input: null, output: 'vendor' } },
    ],
    [
      'Ollama, in the last chunk of a stream',
      {
        outputs: [
          { message: { content: 'Hi' }, done: false },
          { message: { content: '' }, done: true, prompt_eval_count: 5, eval_count: 1 },
        ],
      },
      { input: 5, output: 1 },
    ],
    [
      'Ollama, in the metadata of a LangChain model',
      {
        generations: [[{ text: 'Hi', generation_info: { done: true, prompt_eval_count: 5, eval_count: 1 } }]],
      },
      { input: 5, output: 1 },
    ],
    [
      'Bedrock, cache beside the input by its names and its total',
      { usage: { inputTokens: 1000, outputTokens: 10, totalTokens: 1510, cacheReadInputTokens: 500 } },
      { input: 1500, output: 10, issues: [] },
    ],
    [
      'DeepSeek',
      { usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, prompt_cache_hit_tokens: 4 } },
      { input: 10, output: 2, input_token_details: { cache_read: 4 } },
    ],
    [
      'Cohere, whose billed units are before the tokens that it used (U17)',
      { usage: { billed_units: { input_tokens: 5 }, tokens: { input_tokens: 10, output_tokens: 2 } } },
      { input: 5, output: 2, source: { input: 'vendor', output: 'vendor' } },
    ],
    [
      'what a LangChain model kept of the answer, in a generation',
      {
        generations: [
          [
            {
              message: {
                lc: 1,
                kwargs: { response_metadata: { token_usage: { prompt_tokens: 9, completion_tokens: 1 } } },
              },
            },
          ],
        ],
        llm_output: null,
      },
      { input: 9, output: 1, source: { input: 'vendor', output: 'vendor' } },
    ],
    [
      'the same from JavaScript, in a message alone',
      {
        output: {
          lc: 1,
          kwargs: { response_metadata: { tokenUsage: { promptTokens: 9, completionTokens: 1 } } },
        },
      },
      { input: 9, output: 1, source: { input: 'vendor', output: 'vendor' } },
    ],
    [
      'the AI SDK',
      { usage: { inputTokens: { total: 82, cacheRead: 2 }, outputTokens: { total: 17 } } },
      { input: 82, output: 17 },
    ],
  ])('reads %s', (_name, outputs, expected) => {
    expect(usageOf(outputs)).toMatchObject(expected)
  })
})

describe('normalisation', () => {
  it.each<[string, JsonObject, object]>([
    [
      'N1: digits in a string count, with a flag',
      { input_tokens: '12', output_tokens: 1 },
      { input: 12, issues: ['count_as_string'] },
    ],
    [
      'N1: a negative count is dropped',
      { input_tokens: 3, output_tokens: -3 },
      { input: 3, output: undefined, issues: ['invalid_count'] },
    ],
    [
      'N2: a total that is not the sum is flagged',
      { input_tokens: 10, output_tokens: 5, total_tokens: 99 },
      { input: 10, output: 5, issues: ['total_mismatch'] },
    ],
    [
      'N3: reasoning outside of the output is added',
      { input_tokens: 30, output_tokens: 12, total_tokens: 82, output_token_details: { reasoning: 40 } },
      { output: 52, issues: ['reasoning_added'] },
    ],
    [
      'N4: cache outside of the input is added',
      { input_tokens: 60, output_tokens: 1, input_token_details: { cache_read: 2000, cache_creation: 500 } },
      { input: 2560 },
    ],
    [
      'N7: one cache write told twice is added once',
      {
        input_tokens: 60,
        output_tokens: 1,
        input_token_details: { cache_creation: 500, ephemeral_5m_input_tokens: 500 },
      },
      { input: 560 },
    ],
    [
      'N4: cache_write is another name for cache_creation',
      { input_tokens: 60, output_tokens: 1, input_token_details: { cache_read: 2000, cache_write: 500 } },
      { input: 2560, input_token_details: { cache_read: 2000, cache_write: 500 } },
    ],
    [
      'both spellings of the one-hour write are one',
      { input_tokens: 9, output_tokens: 1, input_token_details: { ephemeral_1hr_input_tokens: 4 } },
      { input_token_details: { ephemeral_1h_input_tokens: 4 } },
    ],
    [
      'a total tells the side that is missing',
      { input_tokens: 10, total_tokens: 15 },
      { input: 10, output: 5 },
    ],
    [
      'keys of every object are no aliases',
      { input_tokens: 9, output_tokens: 1, input_token_details: { constructor: 4 } },
      { input_token_details: { constructor: 4 } },
    ],
  ])('%s', (_name, usage_metadata, expected) => {
    expect(usageOf({ usage_metadata })).toMatchObject(expected)
  })

  it('keeps the sent parts of a cost as they are, and drops parts without a sent total or above it', () => {
    const parts = { audio: 0.5, cache_read: '0.25', ['__proto__']: 1, bad: 'x', ['n'.repeat(129)]: 1 }
    const sent = usageOf({
      usage_metadata: {
        input_cost: 1,
        input_cost_details: parts,
        output_cost: 0.5,
        output_cost_details: { reasoning: 0.75 },
      },
    })
    const quarter = 25n * 10n ** 16n
    expect(sent.input_cost_details).toEqual({ audio: 2n * quarter, cache_read: quarter })
    expect(sent.output_cost_details).toEqual({})
    const whole = { input_cost: 0.75, input_cost_details: { audio: 0.5, cache_read: 0.25 } }
    expect(usageOf({ usage_metadata: whole }).input_cost_details).toEqual({
      audio: 2n * quarter,
      cache_read: quarter,
    })
    expect(usageOf({ usage_metadata: { total_cost: 1, input_cost_details: parts } })).toMatchObject({
      input_cost_details: {},
    })
    expect(usageOf({ usage_metadata: { input_cost: 1 } }).input_cost_details).toEqual({})
  })

  it('adds the sent costs of both sides, and drops values that cannot be a cost', () => {
    const sent = usageOf({ usage_metadata: { input_cost: 1.1e-6, output_cost: 5e-6 } })
    expect(sent).toMatchObject({ input: undefined, total_cost: 6_100_000_000_000n })
    expect(usageOf({ usage_metadata: { input_cost: 9.9e19, output_cost: -1 } })).toMatchObject({
      issues: ['invalid_cost', 'invalid_cost'],
    })
  })
})

it('a total of Gemini or Grok that is larger by the cached tokens alone counted these beside the input', () => {
  const issues: Issue[] = []
  const sent = {
    input_tokens: 100,
    output_tokens: 20,
    total_tokens: 150,
    input_token_details: { cache_read: 30 },
  }
  const usage = reportedUsage({ usage_metadata: sent }, {}, issues, { run_type: 'llm', billsGap: true })
  expect(usage).toMatchObject({ input_tokens: 130, output_tokens: 20, output_token_details: {} })
  expect(issues.map(({ code }) => code)).toEqual(['cache_added'])
})
