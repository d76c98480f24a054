import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parseFilter } from '../../trace/filter/filter.ts'
import { filterSql } from './filter-sql.ts'
import { ROW_TEXT, SEARCHED_TEXT, wordsOf } from './search/search-sql.ts'
import { wordStatements } from './search/word-statements.ts'

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

  it('a list looks the words of a search up, in the rows and in what was sent', async () => {
    const filter = parseFilter('and(eq(status, "error"), search("Find 你好"))')
    const words = wordStatements(['run_id'], { filter, order: 'desc', limit: 1 })
    const { sql, params } = words!.places({ filter, order: 'desc', limit: 1 }, false)
    const migration = await readFile(new URL('migrations/0015_row_words.sql', import.meta.url), 'utf8')
    expect(migration).toContain(ROW_TEXT)
    expect(sql).toContain(`AND ${ROW_TEXT} LIKE {word0:String}`)
    expect(sql).toContain(`AND ${SEARCHED_TEXT} LIKE {word1:String}`)
    expect(sql).not.toContain('positionCaseInsensitiveUTF8')
    expect(params).toMatchObject({ f0: 'error', word0: '%find%', word1: '%find%' })
  })

  it.each([
    'or(search("find"), eq(name, "x"))',
    'not(search("find"))',
    'search("+")',
    'search(model, "gpt")',
  ])('a list with %s reads payloads without looking words up', (expression) => {
    const query = { filter: parseFilter(expression), order: 'desc', limit: 1 } as const
    expect(wordStatements(['run_id'], query)).toBeUndefined()
  })

  it.each([
    ['and(search("find"), eq(name, "x"))', '(1 AND ifNull(name = {f0:String}, 0))'],
    ['and(not(search("find")), not(eq(name, "x")))', '(1 AND NOT ifNull(name = {f0:String}, 0))'],
  ])('%s can be decided by a later statement', (expression, sql) => {
    expect(filterSql(parseFilter(expression), { search: 'assume' }).sql).toBe(sql)
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
