import { describe, expect, it } from 'vitest'
import { builtInProcessors } from '../../../processors/index.ts'
import {
  attributes,
  jsonExport,
  jsonLogExport,
  jsonSpan,
  otlpHead,
  spanId,
  START_NS,
  TRACE,
} from '../../../test/support/traces/otlp-body.ts'
import { NIL_UUID } from '../../base/ids.ts'
import { createRegistry } from '../../schema/registry.ts'
import type { ValidationReport } from '../../schema/types.gen.ts'
import { createReport } from './report.ts'
import { createEstimates } from '../tokens/estimator.ts'
import { createTokenizer } from '../tokens/tokenizer.ts'
import { readBody, reportBody } from '../decode/validate-body.ts'

const ID = '01a1f83d-5201-7000-8000-00000000000a'
const GOOD = {
  id: ID,
  name: 'call',
  run_type: 'llm',
  start_time: '2026-11-20T09:00:00.000Z',
  end_time: '2026-11-20T09:00:01.000Z',
  inputs: { messages: [{ role: 'user', content: 'Hi' }] },
  outputs: {
    choices: [{ message: { role: 'assistant', content: 'Hello' } }],
    usage_metadata: { input_tokens: 8, output_tokens: 2, total_tokens: 10 },
  },
  extra: { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' } },
}
const context = { processors: builtInProcessors, startEstimate: createEstimates(createTokenizer()) }
const registry = createRegistry()

function reportOn(...runs: object[]): ValidationReport {
  const head = {
    kind: 'batch' as const,
    content_type: 'application/json',
    content_encoding: '',
    workspace_id: NIL_UUID,
    user_id: NIL_UUID,
    api_key_id: NIL_UUID,
    received_at: Date.UTC(2026, 10, 20, 9, 1),
    limits: { max_body_bytes: 1_000_000, max_parts: 100, max_part_bytes: 100_000 },
  }
  const report = reportBody(head, Buffer.from(JSON.stringify({ post: runs })), context)
  expect(registry.check('validation-report', report)).toMatchObject({ ok: true })
  return report
}

/** The report on several OTLP exports, as `weir validate` makes it for several files. */
function reportOnExports(...bodies: Buffer[]): ValidationReport {
  const head = otlpHead()
  const report = createReport(
    bodies.map((body) => readBody(head, body)),
    context,
  )
  expect(registry.check('validation-report', report)).toMatchObject({ ok: true })
  return report
}

const runOf = (report: ValidationReport): ValidationReport['runs'][number] => report.runs[0]!
const failing = (report: ValidationReport): string[] =>
  Object.entries(runOf(report).checks).flatMap(([name, verdict]) => (verdict?.ok === false ? [name] : []))

describe('createReport', () => {
  it('LLM-1, D-13: reports no issue for a run that meets the four requirements', () => {
    const report = reportOn(GOOD)
    expect(report).toMatchObject({
      valid: true,
      summary: { runs: 1, llm_runs: 1, valid: 1, invalid: 0, rejected: 0 },
      rejected: [],
    })
    expect(runOf(report)).toEqual({
      run_id: ID,
      name: 'call',
      run_type: 'llm',
      valid: true,
      checks: { run_type: { ok: true }, format: { ok: true }, model: { ok: true }, usage: { ok: true } },
      provider: 'openai',
      model: 'gpt-4.1-mini',
      model_source: 'metadata.ls_model_name',
      input_format: 'openai-chat',
      output_format: 'openai-chat',
      input_tokens: 8,
      output_tokens: 2,
      usage_source: { input: 'client', output: 'client' },
      issues: [],
    })
  })

  it.each<[string, object, string[]]>([
    ['no metadata', { extra: {} }, ['model']],
    ['no provider', { extra: { metadata: { ls_model_name: 'gpt-4.1-mini' } } }, ['model']],
    ['no usage', { outputs: { choices: GOOD.outputs.choices } }, ['usage']],
    ['inputs in no known format', { inputs: { x: 1 } }, ['format']],
    [
      'a role that is an error',
      { inputs: { messages: [{ role: 'user', content: [{ type: 'text' }] }] } },
      ['format'],
    ],
    [
      'nothing but a name',
      { inputs: undefined, outputs: undefined, extra: undefined },
      ['format', 'model', 'usage'],
    ],
  ])('LLM-2, LLM-3, LLM-4: evaluates the four independently: %s', (_, changes, expected) => {
    const report = reportOn({ ...GOOD, ...changes })
    expect(failing(report)).toEqual(expected)
    expect(report).toMatchObject({ valid: false, summary: { valid: 0, invalid: 1 } })
    for (const name of expected) expect(report.summary.failed_checks).toMatchObject({ [name]: 1 })
  })

  it('LLM-10: does not fail for a run that may be an llm call of another type, but shows its verdicts', () => {
    const report = reportOn({ ...GOOD, run_type: 'chain' })
    expect(report).toMatchObject({ valid: true, summary: { llm_runs: 0, failed_checks: { run_type: 0 } } })
    expect(failing(report)).toEqual(['run_type'])
    expect(runOf(report).checks.run_type?.reason).toContain('chain')
  })

  it('LLM-10: a verdict that does not apply is null', () => {
    const step = reportOn({ ...GOOD, run_type: 'chain', extra: {} })
    expect(runOf(step).checks).toEqual({ run_type: null, format: null, model: null, usage: null })
    const metadata = GOOD.extra.metadata
    const embedding = reportOn({
      ...GOOD,
      run_type: 'embedding',
      inputs: { input: ['Hi'] },
      extra: { metadata },
    })
    expect(runOf(embedding).checks).toMatchObject({ run_type: null, format: null, model: { ok: true } })
    expect(embedding).toMatchObject({ valid: true, summary: { llm_runs: 0 } })
  })

  it('LLM-4: reports vendor counts as reported', () => {
    const { choices } = GOOD.outputs
    const outputs = { choices, usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 } }
    const report = reportOn({ ...GOOD, outputs })
    expect(runOf(report)).toMatchObject({ valid: true, usage_source: { input: 'vendor', output: 'vendor' } })
  })

  it('counts issues by severity over all runs', () => {
    const usage_metadata = { input_tokens: '8', output_tokens: 2 }
    const report = reportOn(
      { ...GOOD, outputs: { ...GOOD.outputs, usage_metadata } },
      { ...GOOD, id: ID.replace(/a$/, 'b'), run_type: 'weird', outputs: {} },
    )
    expect(report.summary.issues).toEqual({ error: 0, warning: 2, info: 0 })
    expect(report.runs.flatMap(({ issues }) => issues.map(({ code }) => code))).toEqual([
      'count_as_string',
      'unknown_run_type',
    ])
  })

  it('LLM-10: fails for a rejected run alone, and names it', () => {
    const report = reportOn({ ...GOOD, start_time: 'yesterday' })
    expect(report).toMatchObject({ valid: false, summary: { runs: 0, rejected: 1 } })
    expect(report.rejected).toEqual([
      expect.objectContaining({ run_id: ID, code: 'invalid_timestamp', field: 'start_time' }),
    ])
  })

  it('LLM-2: accepts media by reference, with a warning', () => {
    const image = { type: 'image', url: 'https://example.com/a.png', mime_type: 'image/png' }
    const inputs = { messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, image] }] }
    const run = runOf(reportOn({ ...GOOD, inputs }))
    expect(run.checks.format).toEqual({ ok: true })
    expect(run.issues).toMatchObject([{ code: 'media_without_base64', severity: 'warning' }])
  })

  it.each([
    ['metadata.ls_model_name', { ls_model_name: 'a' }, { model: 'b', model_name: 'c' }],
    ['inputs.model', {}, { model: 'a', model_name: 'b' }],
    ['inputs.model_name', {}, { model_name: 'a' }],
  ])('LLM-3: finds the model in %s', (model_source, metadata, inputs) => {
    const run = runOf(reportOn({ ...GOOD, inputs: { ...GOOD.inputs, ...inputs }, extra: { metadata } }))
    expect(run).toMatchObject({ model: 'a', model_source, checks: { model: { ok: false } } })
  })

  it('LLM-5: estimates missing counts for each side, and names the method', () => {
    const { choices } = GOOD.outputs
    const run = runOf(reportOn({ ...GOOD, outputs: { choices } }))
    expect(run).toMatchObject({
      input_tokens: 8,
      output_tokens: 1,
      usage_source: { input: 'estimate', output: 'estimate' },
    })
    expect(run.checks.usage?.reason).toContain('o200k_base')
    const half = { choices, usage_metadata: { input_tokens: 100 } }
    expect(runOf(reportOn({ ...GOOD, outputs: half }))).toMatchObject({
      input_tokens: 100,
      output_tokens: 1,
      usage_source: { input: 'client', output: 'estimate' },
    })
  })

  it('LLM-6: adds reasoning and cache tokens that were counted beside the others', () => {
    const counted = (usage_metadata: object) =>
      runOf(reportOn({ ...GOOD, outputs: { ...GOOD.outputs, usage_metadata } }))
    const details = { output_token_details: { reasoning: 40 } }
    expect(counted({ input_tokens: 30, output_tokens: 12, total_tokens: 82, ...details })).toMatchObject({
      output_tokens: 52,
      issues: [{ code: 'reasoning_added' }],
    })
    const cache = { input_token_details: { cache_read: 2000, cache_creation: 500 } }
    expect(counted({ input_tokens: 60, output_tokens: 75, ...cache })).toMatchObject({
      input_tokens: 2560,
      issues: [{ code: 'cache_added' }],
    })
  })

  it('LLM-7: gives a run that is no llm one no tokens of its own', () => {
    expect(runOf(reportOn({ ...GOOD, run_type: 'chain' }))).toMatchObject({
      input_tokens: null,
      output_tokens: null,
    })
  })

  it('LLM-8, D-16: flags a new_token event without a time', () => {
    expect(runOf(reportOn({ ...GOOD, events: [{ name: 'new_token' }] })).issues).toMatchObject([
      { code: 'new_token_without_time', path: 'events[0].time' },
    ])
  })

  it('LLM-9: reads an unknown role as user, with an issue', () => {
    const inputs = {
      messages: [
        { role: 'developer', content: 'a' },
        { role: 'oracle', content: 'b' },
      ],
    }
    expect(runOf(reportOn({ ...GOOD, inputs })).issues).toMatchObject([
      { code: 'unknown_role', path: 'inputs.messages[1].role' },
    ])
  })
})

describe('createReport of spans', () => {
  const MODEL = { 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt-4.1-mini' }
  const USAGE = { 'gen_ai.usage.input_tokens': 8, 'gen_ai.usage.output_tokens': 2 }
  const said = (role: string, content: string): string =>
    JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
  const CONTENT = {
    'gen_ai.input.messages': said('user', 'Hi'),
    'gen_ai.output.messages': said('assistant', 'Hello'),
  }
  const span = (n: number, values: Record<string, string | number>, more: object = {}) =>
    jsonSpan(n, { attributes: attributes(values), ...more })

  it('evaluates the mapped run', () => {
    const call = span(1, { 'gen_ai.operation.name': 'chat', ...MODEL, ...USAGE, ...CONTENT })
    expect(reportOnExports(jsonExport([call]))).toMatchObject({
      valid: true,
      runs: [
        { run_type: 'llm', input_format: 'otel-genai', input_tokens: 8, usage_source: { input: 'client' } },
      ],
    })
  })

  it('has no verdicts on a span that is no call of a model', () => {
    const agent = span(1, { 'gen_ai.operation.name': 'invoke_agent', ...MODEL, ...USAGE, ...CONTENT })
    const report = reportOnExports(jsonExport([agent]))
    expect(runOf(report)).toMatchObject({ run_type: 'chain', valid: true })
    expect(runOf(report).checks).toEqual({ run_type: null, format: null, model: null, usage: null })
  })

  it('joins log records to their span and children to their parents, in whatever order they come', () => {
    const child = { parentSpanId: spanId(1) }
    const spans = [
      span(3, {}, { parentSpanId: spanId(2) }),
      span(2, { 'gen_ai.operation.name': 'chat', ...MODEL, ...USAGE }, child),
      span(1, {}),
    ]
    const details = { 'event.name': 'gen_ai.client.inference.operation.details', ...CONTENT }
    const log = (n: number) => ({
      traceId: TRACE,
      spanId: spanId(n),
      timeUnixNano: START_NS,
      attributes: attributes(details),
    })
    const logs = jsonLogExport([log(2), log(1), log(9)])
    for (const bodies of [
      [logs, jsonExport(spans)],
      [jsonExport(spans.toReversed()), logs],
    ]) {
      const report = reportOnExports(...bodies)
      expect(report.summary).toMatchObject({ runs: 3, llm_runs: 1, rejected: 0 })
      expect(report.runs.flatMap(({ issues }) => issues.map(({ code }) => code))).not.toContain(
        'parent_unknown',
      )
      expect(report.runs.find(({ run_type }) => run_type === 'llm')).toMatchObject({
        valid: true,
        output_format: 'otel-genai',
      })
    }
  })

  it('reports a span with a missing parent, and accepts a circle of parents', () => {
    const circle = [span(1, {}, { parentSpanId: spanId(2) }), span(2, {}, { parentSpanId: spanId(1) })]
    const lost = span(3, {}, { parentSpanId: spanId(4) })
    const { runs } = reportOnExports(jsonExport([...circle, lost]))
    expect(runs.map(({ issues }) => issues.map(({ code }) => code))).toEqual([[], [], ['parent_unknown']])
  })
})
