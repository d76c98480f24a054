import { describe, expect, it } from 'vitest'
import type { Issue } from '../../../schema/issue.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { reportedUsage } from '../../tokens/usage/usage.ts'
import { usageOfSpan } from './usage.ts'
import { viewSpan } from '../span/view.ts'

function read(attributes: JsonObject, { runType = 'llm', scope = '' } = {}) {
  const issues: Issue[] = []
  const view = viewSpan({
    trace_id: '',
    span_id: '',
    name: '',
    kind: 0,
    scope: scope === '' ? {} : { name: scope },
    resource: {},
    attributes,
    events: [],
    status: { code: 0 },
    logs: [],
  })
  const usage = reportedUsage(
    undefined,
    {},
    issues,
    { run_type: runType },
    usageOfSpan(view, runType, issues),
  )
  return {
    in: usage.input_tokens,
    out: usage.output_tokens,
    details: { ...usage.input_token_details, ...usage.output_token_details },
    total_cost: usage.total_cost,
    codes: issues.map(({ code }) => code),
  }
}

const sentByLangsmith = (value: JsonObject): JsonObject => ({
  'langsmith.usage_metadata': JSON.stringify(value),
})

describe('counts of a span', () => {
  it.each([
    [{ 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.prompt_tokens': 9, 'gen_ai.usage.output_tokens': 4 }],
    [{ 'gen_ai.usage.prompt_tokens': 3, 'gen_ai.usage.completion_tokens': 4 }],
    [{ 'llm.token_count.prompt': 3, 'llm.token_count.completion': 4, 'llm.token_count.total': 7 }],
    [{ 'llm.usage.prompt_tokens': 3, 'llm.usage.completion_tokens': 4 }],
    [{ 'ai.usage.inputTokens': 3, 'ai.usage.outputTokens': 4 }],
    [{ 'ai.usage.promptTokens': 3, 'ai.usage.completionTokens': 4 }],
    [{ 'gen_ai.response.prompt_tokens': 3, 'gen_ai.response.completion_tokens': 4 }],
    [{ 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.total_tokens': 7 }],
    [sentByLangsmith({ input_tokens: 3, output_tokens: 4 })],
    [{ 'output.value': '{"usage":{"prompt_tokens":3,"completion_tokens":4}}' }],
  ])('are found in %j', (attributes: JsonObject) => {
    expect(read(attributes)).toMatchObject({ in: 3, out: 4, codes: [] })
  })

  it('drops values that are not counts, with an issue (N1)', () => {
    expect(read({ 'gen_ai.usage.input_tokens': -5, 'gen_ai.usage.output_tokens': '7' })).toMatchObject({
      in: undefined,
      out: 7,
      codes: ['invalid_count', 'count_as_string'],
    })
  })

  it('are none on a chain, which repeats its children (N6)', () => {
    const attributes = { 'gen_ai.usage.input_tokens': 3, 'operation.cost': 1 }
    expect(read(attributes, { runType: 'chain' })).toMatchObject({ in: undefined, total_cost: undefined })
    expect(read({ 'operation.cost': 1 }, { runType: 'tool' }).total_cost).toBe(10n ** 18n)
  })
})

describe('cache tokens (N4)', () => {
  const counts = {
    'gen_ai.usage.input_tokens': 3000,
    'gen_ai.usage.output_tokens': 1,
    'gen_ai.usage.cache_read.input_tokens': 2000,
  }

  it('are inside the input if the sums allow it', () => {
    expect(read(counts)).toMatchObject({ in: 3000, codes: [] })
  })

  it('are added if they exceed it', () => {
    expect(read({ ...counts, 'gen_ai.usage.input_tokens': 60 })).toMatchObject({
      in: 2060,
      codes: ['cache_added'],
    })
  })

  it('are always added for the JavaScript Anthropic instrumentation, despite its total', () => {
    const sent = { ...counts, 'gen_ai.usage.total_tokens': 3001 }
    expect(read(sent, { scope: '@traceloop/instrumentation-anthropic' })).toMatchObject({
      in: 5000,
      codes: ['cache_added'],
    })
  })

  it('count the 5 minute and 1 hour writes as parts of the written (N7)', () => {
    const metadata = {
      anthropic: {
        usage: {
          input_tokens: 60,
          cache_read_input_tokens: 2000,
          cache_creation_input_tokens: 500,
          cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 },
        },
      },
    }
    const attributes = {
      'ai.usage.inputTokens': 60,
      'ai.usage.outputTokens': 75,
      'ai.response.providerMetadata': JSON.stringify(metadata),
    }
    expect(read(attributes)).toMatchObject({
      in: 2560,
      details: { cache_creation: 500 },
      codes: ['cache_added'],
    })
  })
})

describe('sources that disagree (N5)', () => {
  const details = { input_token_details: { cache_read: 2000, cache_creation: 500 } }
  const ai = (input: number) => ({ 'ai.usage.inputTokens': input, 'ai.usage.outputTokens': 75 })

  it('prefers the sum of the parts', () => {
    const attributes = {
      ...sentByLangsmith({ input_tokens: 5060, output_tokens: 75, total_tokens: 5135, ...details }),
      ...ai(2560),
      'ai.usage.inputTokenDetails.noCacheTokens': 60,
      'ai.usage.totalTokens': 2635,
    }
    expect(read(attributes)).toMatchObject({ in: 2560, out: 75, codes: ['usage_conflict'] })
  })

  it('subtracts the cache once if it was added twice, and keeps it if it was added once', () => {
    const twice = sentByLangsmith({ input_tokens: 5060, output_tokens: 75, ...details })
    expect(read({ ...twice, ...ai(2560) })).toMatchObject({ in: 2560, codes: ['usage_conflict'] })
    const once = sentByLangsmith({ input_tokens: 2560, output_tokens: 75, ...details })
    expect(read({ ...once, ...ai(60) })).toMatchObject({ in: 2560, codes: ['usage_conflict'] })
  })

  it('uses counts that fit their own total, else the first', () => {
    const odd = sentByLangsmith({ input_tokens: 9, output_tokens: 4, total_tokens: 99 })
    const sound = {
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.usage.total_tokens': 7,
    }
    expect(read({ ...odd, ...sound })).toMatchObject({ in: 3, out: 4, codes: ['usage_conflict'] })
    const first = sentByLangsmith({ input_tokens: 9, output_tokens: 4 })
    expect(read({ ...first, 'gen_ai.usage.input_tokens': 3 })).toMatchObject({ in: 9 })
  })
})

it('reads details that are Python dicts (N10), and adds reasoning that a total shows to be outside (N3)', () => {
  const attributes = {
    'gen_ai.usage.input_tokens': 30,
    'gen_ai.usage.output_tokens': 12,
    'gen_ai.usage.total_tokens': 82,
    'gen_ai.usage.input_token_details': "{'cache_read': 5}",
    'gen_ai.usage.output_token_details': "{'reasoning': 40}",
  }
  expect(read(attributes)).toMatchObject({
    in: 30,
    out: 52,
    details: { cache_read: 5, reasoning: 40 },
    codes: ['reasoning_added'],
  })
})

describe('counts that Python printed in the answer', () => {
  const counts = { 'llm.token_count.prompt': 127, 'llm.token_count.completion': 43 }
  const dict =
    "{'completion_tokens': 43, 'prompt_tokens': 127, 'completion_tokens_details': {'reasoning_tokens': 16}, 'prompt_tokens_details': {'cached_tokens': 64, 'audio_tokens': None}}"
  const object =
    'CompletionUsage(completion_tokens=43, prompt_tokens=127, completion_tokens_details=CompletionTokensDetails(reasoning_tokens=16), prompt_tokens_details=PromptTokensDetails(cached_tokens=64, audio_tokens=None))'

  it.each([
    ['a dict', `ChatMessage(_content='Hi', _meta={'index': 0, 'usage': ${dict}})`],
    ['an object', `ChatCompletion(id='x', choices=[Choice(index=0)], usage=${object}, tier=None)`],
  ])('have the details that the attributes omit: as %s', (_, printed) => {
    expect(read({ ...counts, 'output.value': JSON.stringify({ replies: [printed] }) })).toMatchObject({
      in: 127,
      out: 43,
      details: { cache_read: 64, reasoning: 16 },
    })
  })

  it.each([
    ['of other counts', `usage=${object.replace('=43', '=44')}`],
    ['cut off', `usage=${object.slice(0, 80)}`],
    ['that close more than they open', 'usage=)'],
    ['of nothing', 'the usage=none'],
  ])('are not read %s', (_, printed) => {
    expect(read({ ...counts, 'output.value': printed })).toMatchObject({ in: 127, out: 43, details: {} })
  })
})
