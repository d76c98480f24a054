import { describe, expect, it } from 'vitest'
import type { ComparedQuery, FacetQuery } from '../../../src/ingest/store/stats-store.ts'
import { differencesOf } from '../../../src/query/values/run-differences.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import {
  idOf,
  OTHER_PROJECT,
  PROJECT,
  SECOND,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'
import { inLong, someInShort } from '../../support/length.ts'

let db: TestTraceStore
useTraceStore(async (store) => {
  db = store
  // The store also has an older version of each row, which must not be read.
  await db.insert(
    ROWS.map((row) => ({ ...row, version: 0, name: 'old', tags: ['old'], metadata: { old: 'x' } })),
  )
  await db.insert(ROWS)
  await db.insert(COMPARED.map((row) => ({ ...row, version: 0, name: 'old', tags: ['old'] })))
  await db.insert(COMPARED)
})

const ROWS: TraceRunRow[] = [
  traceRunRow(1, {
    name: 'Agent',
    tags: ['beta', 'beta', 'it\'s "x"'],
    metadata: { env: 'prod', Region: 'eu' },
    issues: ['no_price'],
    user_id: idOf(30),
    api_key_id: idOf(31),
  }),
  traceRunRow(2, {
    name: 'agent two',
    run_type: 'llm',
    status: 'error',
    provider: 'AWS',
    model: 'gpt-4.1-mini',
    tags: ['beta'],
    metadata: { env: 'dev' },
    issues: ['no_price', 'usage_missing'],
    input_source: 'vendor',
    output_source: 'estimate',
    price_model_id: 'p1',
  }),
  traceRunRow(3, { name: 'ÄRGER 你好', run_type: 'llm', model: 'gpt-4.1', metadata: { env: 'prod' } }),
  traceRunRow(4, { project_id: OTHER_PROJECT, name: 'Agent', trace_id: idOf(4) }),
]

const COMPARED_PROJECT = idOf(99)

/** Run `n` starts `n` minutes after START; every fifth one, from 5 to 20, has what the others lack. */
const COMPARED = Array.from({ length: 20 }, (_, at) => {
  const n = at + 1
  const isOdd = n % 5 === 0
  const start = START + n * 60 * SECOND
  return traceRunRow(100 + n, {
    name: 'agent',
    run_type: 'llm',
    model: 'gpt-4.1',
    status: isOdd ? 'error' : 'success',
    error: isOdd ? 'Timeout of "search"\n  at line 3' : '',
    start_time: start,
    sort_time: start,
    end_time: start + (isOdd ? 5 : 0.5) * SECOND,
    tags: isOdd ? ['beta', 'beta'] : [],
    metadata: { env: 'prod', release: isOdd ? 'canary' : 'stable', request: `r${n}` },
    input_tokens: isOdd ? 5000 : 50,
    output_tokens: 10,
    project_id: n === 1 ? idOf(98) : COMPARED_PROJECT,
  })
})
const ODD = [105, 110, 115, 120].map(idOf)

const facets = (query: Partial<FacetQuery> & Pick<FacetQuery, 'field'>) =>
  db.store.runFacets(WORKSPACE, { project_ids: [PROJECT], max_values: 20, ...query })
const textsOf = async (query: Parameters<typeof facets>[0]) =>
  (await facets(query)).values.map(({ value, count }) => `${value}: ${count}`)

describe('N8: values of a field', () => {
  it.each(
    someInShort<[Parameters<typeof facets>[0], string[]]>(
      [
        [{ field: 'name' }, ['Agent: 1', 'agent two: 1', 'ÄRGER 你好: 1']],
        [{ field: 'run_type' }, ['llm: 2', 'chain: 1']],
        [{ field: 'status' }, ['pending: 2', 'error: 1']],
        [{ field: 'model' }, ['gpt-4.1: 1', 'gpt-4.1-mini: 1']],
        [{ field: 'provider' }, ['aws.bedrock: 1']],
        [{ field: 'tag' }, ['beta: 2', 'it\'s "x": 1']],
        [{ field: 'issue' }, ['no_price: 2', 'usage_missing: 1']],
        [{ field: 'metadata_key' }, ['env: 3', 'Region: 1']],
        [{ field: 'metadata_value', key: 'env' }, ['prod: 2', 'dev: 1']],
        [{ field: 'metadata_value', key: "x'}" }, []],
        [{ field: 'input_source' }, ['vendor: 1']],
        [{ field: 'output_source' }, ['estimate: 1']],
        [{ field: 'price_model_id' }, ['p1: 1']],
        [{ field: 'user' }, [`${idOf(30)}: 1`]],
        [{ field: 'api_key' }, [`${idOf(31)}: 1`]],
        [
          { field: 'name', project_ids: [PROJECT, OTHER_PROJECT] },
          ['Agent: 2', 'agent two: 1', 'ÄRGER 你好: 1'],
        ],
        [
          { field: 'name', start_time: START + 120 * SECOND, end_time: START + 180 * SECOND },
          ['agent two: 1'],
        ],
        [{ field: 'name', filter: parseFilter('eq(run_type, "llm")') }, ['agent two: 1', 'ÄRGER 你好: 1']],
        [{ field: 'tag', filter: parseFilter('search("agent")'), run_type: 'llm' }, ['beta: 1']],
      ],
      5,
    ),
  )('%j', async (query, expected) => {
    expect(await textsOf(query)).toEqual(expected)
  })

  it.each([
    ['AG', ['Agent: 1', 'agent two: 1']],
    ['ärger 你', ['ÄRGER 你好: 1']],
    ['gent', []],
    ['%', []],
  ])('that begin with %s, in any case', async (prefix, expected) => {
    expect(await textsOf({ field: 'name', prefix })).toEqual(expected)
  })

  inLong(() => {
    it('are so many runs as a filter for the value finds', async () => {
      for (const field of [
        'name',
        'run_type',
        'status',
        'model',
        'provider',
        'issue',
        'user',
        'api_key',
      ] as const) {
        for (const { value, count } of (await facets({ field })).values) {
          const found = await db.idsOf(WORKSPACE, `eq(${field}, ${JSON.stringify(value)})`, {
            project_ids: [PROJECT],
          })
          expect([field, value, found.length]).toEqual([field, value, count])
        }
      }
    })

    it('are cut at the limit, and the answer reports this', async () => {
      expect(await facets({ field: 'name', max_values: 2 })).toEqual({
        values: [
          { value: 'Agent', count: 1 },
          { value: 'agent two', count: 1 },
        ],
        has_more: true,
        is_whole: true,
      })
    })
  })
})

const compared = (query: Partial<ComparedQuery> & Pick<ComparedQuery, 'selected'>) =>
  db.store.comparedRuns(WORKSPACE, { project_ids: [COMPARED_PROJECT], ...query })

it('N8: the values by which the selected runs of a list differ from the others', async () => {
  const found = differencesOf(await compared({ selected: { run_ids: ODD } }))
  expect(found).toMatchObject({ selected_count: 4, rest_count: 15, is_whole: true })
  const lines = found.differences.map(
    ({ field, key, value, selected_share, rest_share }) =>
      `${key ?? field}=${value} ${selected_share}:${rest_share}`,
  )
  expect(lines.toSorted()).toEqual([
    'error=Timeout of "search" 1:0',
    'latency=3 s to 10 s 1:0',
    'latency=300 ms to 1 s 0:1',
    'release=canary 1:0',
    'release=stable 0:1',
    'status=error 1:0',
    'status=success 0:1',
    'tag=beta 1:0',
    'tokens=1000 to 10000 1:0',
    'tokens=below 100 0:1',
  ])
  for (const { filter, selected_share } of found.differences) {
    const ids = await db.idsOf(WORKSPACE, filter, { project_ids: [COMPARED_PROJECT] })
    expect([filter, ids.length]).toEqual([filter, selected_share === 1 ? 4 : 15])
  }
})

it('N8: the runs of some times are compared with the others of a filter', async () => {
  const from = START + 1140 * SECOND
  const answer = await compared({
    selected: { start_time: from, end_time: from + 120 * SECOND },
    start_time: START + 600 * SECOND,
    filter: parseFilter('eq(run_type, "llm")'),
  })
  expect([answer.selected_count, answer.rest_count]).toEqual([2, 9])
  expect(answer.values).toContainEqual({ field: 'tag', key: '', value: 'beta', selected: 1, rest: 2 })
  expect(answer.values.some(({ key }) => key === 'request')).toBe(false)
  expect(await compared({ selected: { end_time: START } })).toMatchObject({
    selected_count: 0,
    rest_count: 19,
  })
})

it('N8: traces also differ by the runs below their roots, without what the roots have themselves', async () => {
  const project_id = idOf(300)
  const traces = [0, 1, 2, 3, 4, 5].map((n) => ({ root: 310 + 10 * n, isOdd: n < 2 }))
  const rows = traces.flatMap(({ root, isOdd }) => {
    const trace = { project_id, trace_id: idOf(root), tags: ['prod'], metadata: { env: 'eu' } }
    const below = { ...trace, parent_run_id: idOf(root) }
    return [
      traceRunRow(root, { ...trace, name: 'agent' }),
      traceRunRow(root + 1, { ...below, run_type: 'llm', model: isOdd ? 'gpt-b' : 'gpt-a' }),
      traceRunRow(root + 2, {
        ...below,
        run_type: 'tool',
        name: isOdd ? 'refund' : 'lookup',
        metadata: { env: 'eu', shard: isOdd ? '7' : '1', ls_model_name: 'x' },
        ...(isOdd && { status: 'error', error: 'Timeout\nat line 1' }),
      }),
      traceRunRow(root + 3, { ...below, run_type: 'tool', name: isOdd ? 'refund' : 'lookup' }),
    ]
  })
  await db.insert(rows)
  const query = { project_ids: [project_id], is_root: true, selected: { run_ids: [310, 320].map(idOf) } }
  const found = differencesOf(await db.store.comparedRuns(WORKSPACE, query))
  expect(found).toMatchObject({ selected_count: 2, rest_count: 4 })
  expect(
    found.differences.map(
      ({ field, value, selected_share, rest_share }) => `${field}=${value} ${selected_share}:${rest_share}`,
    ),
  ).toEqual([
    'error_below=Timeout 1:0',
    'metadata_below=1 0:1',
    'metadata_below=7 1:0',
    'model_below=gpt-a 0:1',
    'model_below=gpt-b 1:0',
    'tool_below=lookup 0:1',
    'tool_below=refund 1:0',
  ])
  for (const { field, filter } of found.differences)
    expect([field, (await db.idsOf(WORKSPACE, filter, { project_ids: [project_id] })).length > 1]).toEqual([
      field,
      true,
    ])
})
