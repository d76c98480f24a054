import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { PROVIDER } from '../../../src/storage/clickhouse/provider-sql.ts'
import { PROVIDER_SPELLINGS, normalizeProvider } from '../../../src/trace/price/provider-name.ts'
import { parseDecimal } from '../../../src/trace/price/decimal.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import {
  OTHER_PROJECT,
  SECOND,
  START,
  type TestTraceStore,
  WORKSPACE,
  idOf,
  startTestTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'
import { firstInShort, inLong, someInShort } from '../../support/length.ts'

const afterStart = (n: number, seconds: number) => START + n * 60 * SECOND + seconds * SECOND

const ROWS: TraceRunRow[] = [
  traceRunRow(1, {
    name: 'Agent',
    status: 'success',
    end_time: afterStart(1, 12.5),
    tags: ['beta', 'it\'s "x" \\ \n'],
    thread_id: 'thread-1',
    metadata: { env: 'prod', user: 'u1', attempt: '2', 'a\\b"c\'': 'é\n' },
    inputs_preview: 'Wie heißt die HAUPTSTADT?',
    outputs_preview: 'Zürich, ÄRGER',
  }),
  traceRunRow(2, {
    parent_run_id: idOf(1),
    run_type: 'llm',
    status: 'success',
    end_time: afterStart(2, 2),
    first_token_time: afterStart(2, 0.25),
    provider: 'openai',
    model: 'gpt-4.1-mini',
    input_tokens: 4000,
    output_tokens: 1001,
    input_cost: parseDecimal('0.1')!,
    output_cost: parseDecimal('0.000000000000000002')!,
    total_cost: parseDecimal('0.100000000000000002')!,
    tags: ['experimental'],
    metadata: { env: 'dev', user: 'prod', attempt: '10' },
    checks: 0b0111,
    issues: ['no_price', 'usage_missing'],
    input_source: 'vendor',
    output_source: 'estimate',
    price_model_id: 'openai/gpt-4.1-mini@2025',
  }),
  traceRunRow(3, {
    project_id: OTHER_PROJECT,
    trace_id: idOf(3),
    run_type: 'tool',
    status: 'error',
    error: 'Timeout: 100% of _budget_',
    end_time: afterStart(3, 0.05),
    metadata: { session_id: 'thread-1' },
    user_id: idOf(30),
    api_key_id: idOf(31),
  }),
  traceRunRow(4, { trace_id: idOf(4), run_type: 'llm', input_tokens: 10, metadata: { attempt: 'none' } }),
]

/** For each expression, the numbers of the rows that it selects. */
const CASES: [string, number[]][] = [
  ['eq(name, "Agent")', [1]],
  ['neq(name, "Agent")', [2, 3, 4]],
  ['in(name, ["Agent", "step 3", "none"])', [1, 3]],
  ['in(name, [])', []],
  ['search(name, "STEP")', [2, 3, 4]],
  [`eq(id, "${idOf(3)}")`, [3]],
  [`eq(run_id, ${idOf(3)})`, [3]],
  [`neq(id, "${idOf(3)}")`, [1, 2, 4]],
  [`in(id, ["${idOf(1)}", "${idOf(4).replaceAll('-', '')}"])`, [1, 4]],
  [`eq(trace_id, "${idOf(1)}")`, [1, 2]],
  [`eq(parent_run_id, "${idOf(1)}")`, [2]],
  ['eq(parent_run_id, null)', [1, 3, 4]],
  ['exists(parent_run_id)', [2]],
  ['eq(is_root, true)', [1, 3, 4]],
  ['neq(is_root, true)', [2]],
  ['eq(is_root, False)', [2]],
  [`eq(session, "${OTHER_PROJECT}")`, [3]],
  ['eq(run_type, "llm")', [2, 4]],
  ['eq(status, "pending")', [4]],
  ['eq(error, null)', [1, 2, 4]],
  ['neq(error, null)', [3]],
  ['eq(error, true)', [3]],
  ['eq(error, false)', [1, 2, 4]],
  ['search(error, "timeout")', [3]],
  ['search(error, "%")', [3]],
  ['search(error, "1_0")', []],
  ['eq(thread_id, "thread-1")', [1]],
  ['exists(thread_id)', [1]],
  ['eq(provider, "openai")', [2]],
  ['search(model, "GPT-4")', [2]],
  ['eq(model, null)', [1, 3, 4]],
  ['gt(start_time, "2026-11-20T09:02:00Z")', [3, 4]],
  ['gte(start_time, 2026-11-20T10:02:00+01:00)', [2, 3, 4]],
  ['lt(start_time, "2026-11-20 09:02")', [1]],
  ['and(gte(end_time, "2026-11-20T09:01:12.5Z"), lte(end_time, "2026-11-20T09:02:02"))', [1, 2]],
  ['eq(end_time, null)', [4]],
  ['neq(end_time, "2026-11-20T09:02:02Z")', [1, 3, 4]],
  ['exists(first_token_time)', [2]],
  ['lt(first_token_time, "2027-01-01")', [2]],
  ['gt(latency, 2)', [1]],
  ['gte(latency, "2s")', [1, 2]],
  ['lt(latency, "1500ms")', [3]],
  ['eq(latency, 0.05)', [3]],
  ['in(latency, ["2s", 12.5])', [1, 2]],
  ['not(gt(latency, 2))', [2, 3, 4]],
  ['lte(ttft, 0.25)', [2]],
  ['eq(tokens_per_second, 572)', [2]],
  ['gte(tokens_per_second, 0.5)', [2]],
  ['not(lt(tokens_per_second, 600))', [1, 3, 4]],
  ['eq(tokens_per_second, null)', [1, 3, 4]],
  ['gt(total_tokens, 5000)', [2]],
  ['lte(total_tokens, 10)', [1, 3, 4]],
  ['eq(total_tokens, 5001)', [2]],
  ['exists(total_tokens)', [2, 4]],
  ['in(prompt_tokens, [10, 4000])', [2, 4]],
  ['gte(completion_tokens, 1)', [2]],
  ['eq(total_cost, 0.100000000000000002)', [2]],
  ['gt(total_cost, 0.1)', [2]],
  ['eq(prompt_cost, "0.10")', [2]],
  ['eq(completion_cost, 2e-18)', [2]],
  ['lt(total_cost, 0)', []],
  ['eq(total_cost, null)', [1, 3, 4]],
  ['has(tags, "beta")', [1]],
  ['or(has(tags, "experimental"), has(tags, "beta"))', [1, 2]],
  ['in(tags, ["experimental", "beta"])', [1, 2]],
  ['not(has(tags, "beta"))', [2, 3, 4]],
  [String.raw`has(tags, "it's \"x\" \\ \n")`, [1]],
  ['eq(metadata_key, "env")', [1, 2]],
  ['neq(metadata_key, "env")', [3, 4]],
  ['exists(metadata, "user")', [1, 2]],
  ['eq(metadata_value, "prod")', [1, 2]],
  ['and(eq(metadata_key, "env"), eq(metadata_value, "prod"))', [1]],
  ['and(eq(metadata_key, "env"), neq(metadata_value, "prod"))', [2]],
  ['and(eq(metadata_key, "env"), eq(run_type, "llm"), eq(metadata_value, "dev"))', [2]],
  ['and(eq(metadata_key, "env"), or(eq(metadata_value, "dev"), eq(metadata_value, "u1")))', [2]],
  ['and(in(metadata_key, ["session_id", "user"]), eq(metadata_value, "thread-1"))', [3]],
  [
    'and(eq(metadata_key, "env"), eq(metadata_key, "user"), eq(metadata_value, "prod"), eq(metadata_value, "u1"))',
    [1],
  ],
  ['and(eq(metadata_key, "attempt"), gt(metadata_value, 5))', [2]],
  ['and(eq(metadata_key, "attempt"), gt(metadata_value, "5"))', [4]],
  ['and(eq(metadata_key, "attempt"), in(metadata_value, [2, "none"]))', [1, 4]],
  ['search(metadata_value, "THREAD")', [3]],
  [`has(metadata, '{"env": "prod", "attempt": 2}')`, [1]],
  [`has(metadata, '{"env": "prod", "attempt": 10}')`, []],
  [String.raw`has(metadata, '{"a\\\\b\\"c\'": "\\u00e9\\n"}')`, [1]],
  ['search("hauptstadt")', [1]],
  ['search("ärger")', [1]],
  ['search("TIMEOUT")', [3]],
  ['search("agent")', [1]],
  ['eq(check_run_type, true)', [2]],
  ['eq(check_usage, false)', [2, 4]],
  ['and(exists(check_usage), neq(check_format, true))', [4]],
  ['eq(check_model, null)', [1, 3]],
  ['eq(issue, "no_price")', [2]],
  ['in(issue, ["other", "usage_missing"])', [2]],
  ['neq(issue, "no_price")', [1, 3, 4]],
  ['exists(issue)', [2]],
  ['eq(input_source, "vendor")', [2]],
  ['eq(output_source, "estimate")', [2]],
  ['exists(input_source)', [2]],
  ['eq(price_model_id, "openai/gpt-4.1-mini@2025")', [2]],
  ['exists(price_model_id)', [2]],
  [`eq(user, "${idOf(30)}")`, [3]],
  [`eq(user_id, "${idOf(30)}")`, [3]],
  [`in(api_key, ["${idOf(31)}"])`, [3]],
  ['exists(api_key)', [3]],
  ['and(eq(is_root, true), or(gt(latency, "10s"), neq(error, null)))', [1, 3]],
]

let store: TestTraceStore

beforeAll(async () => {
  store = await startTestTraceStore()
  await store.insert(ROWS)
})

afterAll(() => store?.stop())

async function select(expression: string): Promise<number[]> {
  const ids = await store.idsOf(WORKSPACE, expression)
  return ids.map((id) => ROWS.findIndex(({ run_id }) => run_id === id) + 1)
}

describe('N6: a filter in ClickHouse', () => {
  it.each(someInShort(CASES, 12))('%s selects %j', async (expression, expected) => {
    expect(await select(expression)).toEqual(expected)
  })

  it.each(someInShort(CASES, 40))('not(%s) selects all but %j', async (expression, selected) => {
    expect(await select(`not(${expression})`)).toEqual([1, 2, 3, 4].filter((n) => !selected.includes(n)))
  })

  inLong(() => {
    it('spells the providers of rows like those of calls', async () => {
      const names = [
        'openai',
        'anthropic',
        'google',
        'vertex ai',
        'googleapis',
        'my_provider',
        'ollama',
        'chat',
      ]
      const known = [...names, ...PROVIDER_SPELLINGS.flat()]
      const suffixes = [
        'chat',
        'responses',
        'completion',
        'completions',
        'messages',
        'embedding',
        'generative-ai',
      ]
      const endings = ['', ...suffixes.flatMap((it) => [`.${it}`, `_${it}`, `-${it}`])]
      const sent = known.flatMap((name) =>
        endings.flatMap((it) => [name + it, ` ${(name + it).toUpperCase()}`]),
      )
      const rows = await store.clickhouse.rows<{ provider: string; shown: string }>(
        `SELECT provider, ${PROVIDER} AS shown
       FROM (SELECT toLowCardinality(arrayJoin({sent:Array(String)})) AS provider)`,
        { params: { sent } },
      )
      expect(rows.length).toBe(sent.length)
      expect(rows.filter(({ provider, shown }) => shown !== normalizeProvider(provider))).toEqual([])
    })

    it('treats any text as text', async () => {
      for (const text of [
        "'",
        '\\',
        '\0',
        '\t',
        '{f0:String}',
        "') OR 1=1 --",
        '\ud800',
        '\u2028',
        '\\N',
        '%',
        '`',
      ]) {
        expect(await select(`eq(name, ${JSON.stringify(text)})`)).toEqual([])
        expect(await select(`in(metadata_value, [${JSON.stringify(text)}])`)).toEqual([])
      }
    })
  })

  it('supports the largest filters', async () => {
    const wide = `or(${Array.from({ length: 199 }, (_, n) => `eq(name, "step ${n + 3}")`).join(', ')})`
    expect(await select(wide)).toEqual([3, 4])
    expect(await select(`${'not('.repeat(30)}eq(name, "Agent")${')'.repeat(30)}`)).toEqual([1])
    const ids = Array.from({ length: 200 }, (_, n) => `"${idOf(n + 2)}"`)
    expect(await select(`in(id, [${ids.join(',')}])`)).toEqual([2, 3, 4])
  })
})

describe('trace_failed: whether any run of the trace failed', () => {
  const workspace_id = newUuid()
  const child = (n: number, parent: number, status: 'success' | 'error'): TraceRunRow =>
    traceRunRow(n, { workspace_id, trace_id: idOf(parent), parent_run_id: idOf(parent), status })
  const rows = [
    traceRunRow(1, { workspace_id }),
    child(2, 1, 'success'),
    child(3, 1, 'error'),
    traceRunRow(4, { workspace_id, trace_id: idOf(4) }),
    child(5, 4, 'success'),
  ]

  beforeAll(() => store.insert(rows))

  it.each(
    firstInShort<[string, number[]]>(
      [
        ['eq(trace_failed, true)', [1, 2, 3]],
        ['and(eq(is_root, true), eq(trace_failed, true))', [1]],
        ['eq(trace_failed, false)', [4, 5]],
        ['neq(trace_failed, true)', [4, 5]],
      ],
      2,
    ),
  )('%s selects %j', async (expression, expected) => {
    const ids = await store.idsOf(workspace_id, expression)
    expect(ids.map((id) => Number(id.slice(-12)))).toEqual(expected)
  })
})

describe('LLM-13: the thread of a trace in which only children name one', () => {
  const workspace_id = newUuid()
  const child = (n: number, parent: number, thread_id: string): TraceRunRow =>
    traceRunRow(n, { workspace_id, trace_id: idOf(parent), parent_run_id: idOf(parent), thread_id })
  const rows = [
    traceRunRow(1, { workspace_id }),
    child(3, 1, 'second'),
    child(2, 1, 'first'),
    child(4, 1, ''),
    traceRunRow(5, { workspace_id, trace_id: idOf(5), thread_id: 'own' }),
    child(6, 5, 'other'),
    traceRunRow(7, { workspace_id, trace_id: idOf(7) }),
  ]

  beforeAll(() => store.insert(rows))

  it.each(
    firstInShort<[string, number[]]>(
      [
        ['eq(thread_id, "first")', [1, 2]],
        ['eq(thread_id, "second")', [3]],
        ['in(thread_id, ["second", "other"])', [3, 6]],
        ['eq(thread_id, "own")', [5]],
        ['and(eq(is_root, true), eq(thread_id, "first"))', [1]],
        ['exists(thread_id)', [1, 2, 3, 5, 6]],
        ['eq(thread_id, null)', [4, 7]],
        ['neq(thread_id, "first")', [3, 4, 5, 6, 7]],
      ],
      2,
    ),
  )('%s selects %j', async (expression, expected) => {
    const ids = await store.idsOf(workspace_id, expression)
    expect(ids.map((id) => Number(id.slice(-12)))).toEqual(expected)
  })
})

inLong(() => {
  it('a provider is found by any of its spellings, in rows with any of them', async () => {
    const workspace_id = newUuid()
    const rows = ['bedrock', 'aws.bedrock', 'openai'].map((provider, i) =>
      traceRunRow(i + 1, { workspace_id, run_type: 'llm', provider }),
    )
    await store.insert(rows)
    const found = async (filter: string) =>
      (await store.idsOf(workspace_id, filter)).map((id) => Number(id.slice(-12)))
    expect(await found('eq(provider, "AWS")')).toEqual([1, 2])
    expect(await found('in(provider, ["amazon-bedrock"])')).toEqual([1, 2])
    expect(await found('eq(provider, "openai.chat")')).toEqual([3])
  })
})
