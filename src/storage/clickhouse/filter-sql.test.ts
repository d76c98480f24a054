import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parseFilter } from '../../trace/filter/filter.ts'
import { filterSql } from './filter-sql.ts'
import { SEARCHED_TEXT, wordsOf } from './search/search-sql.ts'

const GOLDEN: [string, string, Record<string, unknown>][] = [
  ['eq(name, "a")', 'ifNull(name = {f0:String}, 0)', { f0: 'a' }],
  [
    'and(neq(run_type, "llm"), gt(latency, "5s"))',
    '(NOT ifNull(run_type = {f0:String}, 0) AND ifNull((toUnixTimestamp64Micro(end_time) - toUnixTimestamp64Micro(start_time)) > {f1:Int64}, 0))',
    { f0: 'llm', f1: 5_000_000 },
  ],
  [
    'or(gte(total_tokens, 5), lte(total_cost, 0.5))',
    '(ifNull((ifNull(input_tokens, 0) + ifNull(output_tokens, 0)) >= {f0:Float64}, 0) OR ifNull(total_cost <= {f1:Decimal(38, 18)}, 0))',
    { f0: 5, f1: '0.5' },
  ],
  ['neq(error, null)', "NOT (status != 'error')", {}],
  ['eq(is_root, true)', "(parent_run_id = toUUID('00000000-0000-0000-0000-000000000000'))", {}],
  ['exists(end_time)', 'NOT (isNull(toUnixTimestamp64Micro(end_time)))', {}],
  ['in(session, [])', 'ifNull(project_id IN {f0:Array(UUID)}, 0)', { f0: [] }],
  ['has(tags, "x")', 'hasAny(tags, {f0:Array(String)})', { f0: ['x'] }],
  [
    'and(in(metadata_key, ["a", "b"]), gt(metadata_value, 3))',
    'arrayExists((entry_key, entry_value) -> (ifNull(entry_key IN {f0:Array(String)}, 0) AND ifNull(toFloat64OrNull(entry_value) > {f1:Float64}, 0)), mapKeys(metadata), mapValues(metadata))',
    { f0: ['a', 'b'], f1: 3 },
  ],
  ['search(name, "x")', '(positionCaseInsensitiveUTF8(name, {f0:String}) > 0)', { f0: 'x' }],
]

describe('filterSql', () => {
  it.each(GOLDEN)('%s', (expression, sql, params) => {
    expect(filterSql(parseFilter(expression))).toEqual({ sql, params })
  })

  it('a search uses the expression of the index for its words, few rows at a time', async () => {
    const { sql, params } = filterSql(parseFilter('search("Find 你好")'))
    expect(sql).toContain('SETTINGS max_block_size = 500')
    const migration = await readFile(new URL('migrations/0013_words.sql', import.meta.url), 'utf8')
    expect(migration).toContain(SEARCHED_TEXT)
    expect(sql).toContain(`AND ${SEARCHED_TEXT} LIKE {f2:String} AND (`)
    expect(params).toEqual({ f0: 'Find 你好', f1: 'Find 你好', f2: '%find%' })
  })

  it.each([
    ['a_b.c', []],
    ['Order 77123 failed', ['failed', 'order', '77123']],
    ['你好 Ω', ['你好', 'ω']],
    ['ΣΑ', ['α']],
    ['ab 你', ['你']],
  ])('words of %s', (text, words) => {
    expect(wordsOf(text)).toEqual(words)
  })

  it('never puts a value into the statement', () => {
    const { sql, params } = filterSql(
      parseFilter(`and(eq(name, "') OR 1=1 --"), has(metadata, '{"x}{y": "z"}'))`),
    )
    expect(sql).not.toMatch(/1=1|x}|z/)
    expect(params).toEqual({ f0: "') OR 1=1 --", f1: 'x}{y', f2: 'z' })
  })
})
