import { describe, expect, it } from 'vitest'
import type { FacetQuery } from '../../../src/ingest/store/stats-store.ts'
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
