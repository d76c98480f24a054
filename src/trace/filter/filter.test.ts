import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../test/support/cpu-bound.ts'
import { AppError } from '../../base/errors.ts'
import type { FilterField, FilterValue } from './fields.ts'
import { type Filter, parseFilter } from './filter.ts'
import { tries } from '../../../test/support/properties.ts'

const eq = (field: FilterField, value: FilterValue): Filter => ({ kind: 'compare', field, is: 'eq', value })
const and = (...of: Filter[]): Filter => ({ kind: 'and', of })
const or = (...of: Filter[]): Filter => ({ kind: 'or', of })
const not = (of: Filter): Filter => ({ kind: 'not', of })
const entry = (of: Filter): Filter => ({ kind: 'entry', among: 'metadata', of })
const judged = (of: Filter): Filter => ({ kind: 'entry', among: 'feedback', of })
const missing = (field: FilterField): Filter => ({ kind: 'missing', field })
const key = (value: string) => eq('metadata_key', value)
const value = (held: string) => eq('metadata_value', held)

const ID = '0195f3a0-0000-7000-8000-0000000000aa'
const NOON = Date.UTC(2026, 10, 20, 12) * 1000

const EXPRESSIONS: [string, Filter][] = [
  ['eq(name, "a")', eq('name', 'a')],
  [' eq ( name ,\n\t"a" ) ', eq('name', 'a')],
  ['eq(name, \'a "b" c\')', eq('name', 'a "b" c')],
  [String.raw`eq(name, "a \"b\" \\ \n \u00e9 \d")`, eq('name', 'a "b" \\ \n é \\d')],
  [String.raw`eq(name, 'it\'s')`, eq('name', "it's")],
  ['eq(name, "")', eq('name', '')],
  ['eq(name, "and(eq(x, 1))")', eq('name', 'and(eq(x, 1))')],
  ['neq(name, "a")', not(eq('name', 'a'))],
  ['and(eq(name, "a"))', eq('name', 'a')],
  ['and(eq(name, "a"), eq(model, "b"))', and(eq('name', 'a'), eq('model', 'b'))],
  ['or(eq(name, "a"), not(eq(model, "b")))', or(eq('name', 'a'), not(eq('model', 'b')))],
  ['in(run_type, ["llm", \'tool\'])', { kind: 'in', field: 'run_type', values: ['llm', 'tool'] }],
  ['in(run_type, [])', { kind: 'in', field: 'run_type', values: [] }],
  ['eq(error, null)', missing('error')],
  ['neq(error, None)', not(missing('error'))],
  ['eq(error, true)', not(missing('error'))],
  ['exists(end_time)', not(missing('end_time'))],
  ['eq(is_root, True)', missing('parent_run_id')],
  ['neq(is_root, false)', not(not(missing('parent_run_id')))],
  [`eq(run_id, "${ID.toUpperCase()}")`, eq('id', ID)],
  [`eq(session, ${ID})`, eq('session', ID)],
  ['eq(latency, 1.5)', eq('latency', 1_500_000)],
  ['eq(latency, "5s")', eq('latency', 5_000_000)],
  ['eq(latency, 250ms)', eq('latency', 250_000)],
  ['eq(ttft, "1.5 m")', eq('ttft', 90_000_000)],
  ['gt(total_tokens, -1e3)', { kind: 'compare', field: 'total_tokens', is: 'gt', value: -1000 }],
  ['eq(total_cost, 0.10)', eq('total_cost', '0.1')],
  ['eq(total_cost, 1e-18)', eq('total_cost', '0.000000000000000001')],
  ['eq(start_time, "2026-11-20T12:00:00Z")', eq('start_time', NOON)],
  ['eq(start_time, 2026-11-20T13:00:00+01:00)', eq('start_time', NOON)],
  ['eq(start_time, 1795176000000)', eq('start_time', NOON)],
  ['eq(run_type, "LLM")', eq('run_type', 'llm')],
  ['eq(status, "SUCCESS")', eq('status', 'success')],
  ['eq(run_type, "Agent")', eq('run_type', 'Agent')],
  ['eq(feedback_key, "k")', judged(eq('feedback_key', 'k'))],
  ['gte(feedback_score, 0.5)', judged({ kind: 'compare', field: 'feedback_score', is: 'gte', value: 0.5 })],
  [
    'and(eq(feedback_key, "k"), eq(metadata_key, "a"), eq(feedback_score, 1), eq(metadata_value, "x"))',
    and(entry(and(key('a'), value('x'))), judged(and(eq('feedback_key', 'k'), eq('feedback_score', 1)))),
  ],
  [
    'and(eq(name, "n"), and(eq(feedback_key, "k"), eq(feedback_score, 1)), not(eq(feedback_key, "j")))',
    and(
      eq('name', 'n'),
      judged(and(eq('feedback_key', 'k'), eq('feedback_score', 1))),
      not(judged(eq('feedback_key', 'j'))),
    ),
  ],
  ['has(tags, "x")', { kind: 'listed', list: 'tags', values: ['x'] }],
  ['in(tags, ["x", "y"])', { kind: 'listed', list: 'tags', values: ['x', 'y'] }],
  ['eq(issue, "no_price")', { kind: 'listed', list: 'issues', values: ['no_price'] }],
  ['eq(issue, null)', { kind: 'missing', field: 'issue' }],
  ['eq(check_usage, true)', { kind: 'compare', field: 'check_usage', is: 'eq', value: 1 }],
  ['search("x")', { kind: 'search', fields: ['name', 'inputs', 'outputs', 'error', 'metadata'], text: 'x' }],
  ['search(metadata, "x")', { kind: 'search', fields: ['metadata'], text: 'x' }],
  ['search(inputs, "x")', { kind: 'search', fields: ['inputs'], text: 'x' }],
]

const ENTRIES: [string, Filter][] = [
  ['eq(metadata_key, "k")', entry(key('k'))],
  ['neq(metadata_key, "k")', not(entry(key('k')))],
  ['eq(metadata_value, 1.0)', entry(value('1'))],
  ['eq(metadata_value, true)', entry(value('true'))],
  ['neq(metadata_value, "v")', not(entry(value('v')))],
  ['exists(metadata, "k")', entry(key('k'))],
  ['and(eq(metadata_key, "k"), eq(metadata_value, "v"))', entry(and(key('k'), value('v')))],
  ['and(eq(metadata_value, "v"), eq(metadata_key, "k"))', entry(and(key('k'), value('v')))],
  ['and(eq(metadata_key, "k"), neq(metadata_value, "v"))', entry(and(key('k'), not(value('v'))))],
  ['and(neq(metadata_key, "k"), eq(metadata_value, "v"))', and(not(entry(key('k'))), entry(value('v')))],
  ['and(eq(metadata_key, "a"), eq(metadata_key, "b"))', and(entry(key('a')), entry(key('b')))],
  [
    'and(eq(metadata_key, "a"), eq(metadata_key, "b"), eq(metadata_value, "x"), eq(metadata_value, "y"))',
    and(entry(and(key('a'), value('x'))), entry(and(key('b'), value('y')))),
  ],
  [
    'and(eq(metadata_key, "k"), eq(name, "n"), or(eq(metadata_value, "v"), eq(metadata_value, "w")))',
    and(eq('name', 'n'), entry(and(key('k'), or(value('v'), value('w'))))),
  ],
  [
    'and(eq(metadata_key, "k"), gte(metadata_value, 1), lt(metadata_value, "5"))',
    entry(
      and(
        key('k'),
        { kind: 'compare', field: 'metadata_value', is: 'gte', value: 1 },
        { kind: 'compare', field: 'metadata_value', is: 'lt', value: '5' },
      ),
    ),
  ],
  ['or(eq(metadata_key, "k"), eq(metadata_value, "v"))', or(entry(key('k')), entry(value('v')))],
  ['or(eq(metadata_value, "v"), eq(name, "n"))', or(entry(value('v')), eq('name', 'n'))],
  [
    `has(metadata, '{"a": "x", "b": 2}')`,
    and(entry(and(key('a'), value('x'))), entry(and(key('b'), value('2')))),
  ],
  [`has(metadata, '{"__proto__": false}')`, entry(and(key('__proto__'), value('false')))],
  [`has(metadata, '{"a": "say \\"x\\""}')`, entry(and(key('a'), value('say "x"')))],
]

/** Expression, position in the message, and text of the message. */
const FAULTS: [string, number, string][] = [
  ['', 1, 'expected a condition, a field or a value, found the end.'],
  ['name', 1, 'expected a condition'],
  ['"name"', 1, 'expected a condition'],
  ['eq(name, "a"', 13, 'expected "," or ")" in eq(…), found the end.'],
  ['eq(name "a")', 9, 'expected "," or ")" in eq(…), found "\\"".'],
  ['eq(name, "a)', 10, 'has no closing ".'],
  ["eq(name, 'a)", 10, "has no closing '."],
  ['eq(name, "a"))', 14, 'expected the end; join conditions with and(…) or or(…), found ")".'],
  ['eq(name, "a"), eq(name, "b")', 14, 'expected the end'],
  ['eq(name, llm)', 10, 'text needs quotes: "llm"'],
  ['eq(name, )', 10, 'found ")".'],
  ['eq(name, 😀)', 10, 'found "😀".'],
  ['in(name, [a])', 11, 'text needs quotes: "a"'],
  ['in(name, ["a" "b"])', 15, 'expected "," or "]" in the list'],
  ['in(name, "a")', 10, 'expected a list'],
  ['in(name, [null])', 11, 'expected a text in quotes'],
  ['eq(name)', 1, 'takes a field and a value'],
  ['eq(metadata_key, "k", "v")', 1, 'takes a field and a value'],
  ['eq("name", "a")', 4, 'expected the name of a field, without quotes'],
  ['eq(metadata.k, "a")', 4, 'text needs quotes'],
  ['eq(nome, "a")', 4, '"nome" is no field; these are: is_root, tags,'],
  ['eq(constructor, "a")', 4, '"constructor" is no field'],
  ['eq(feedback_stats, 1)', 4, '"feedback_stats" is no field'],
  ['gt(feedback_key, "a")', 1, '"feedback_key" does not take gt'],
  ['eq(feedback_score, "1")', 20, 'expected a number'],
  ['exists(feedback_score)', 1, '"feedback_score" does not take exists'],
  ['like(name, "a")', 1, '"like" is no operator'],
  ['toString(name, "a")', 1, '"toString" is no operator'],
  ['and()', 1, 'needs at least one condition'],
  ['and(name)', 5, 'expected a condition'],
  ['not(eq(name, "a"), eq(name, "b"))', 20, 'not(…) takes one condition'],
  ['gt(name, "a")', 1, '"name" does not take gt(…)'],
  ['gt(id, "a")', 1, '"id" does not take gt(…)'],
  ['eq(inputs, "a")', 1, '"inputs" does not take eq(…)'],
  ['in(total_cost, [1])', 1, '"total_cost" does not take in(…)'],
  ['eq(tags, "a")', 4, '"tags" does not take this operator'],
  ['has(name, "a")', 5, 'takes tags or metadata'],
  ['has(tags, "")', 11, 'expected a text'],
  ['has(metadata, "k")', 15, 'expected a JSON object'],
  ["has(metadata, '[1]')", 15, 'expected a JSON object'],
  ["has(metadata, '{}')", 15, 'of 1 to 32 entries'],
  [`has(metadata, '{"k": {"a": 1}}')`, 15, 'the value of "k" is no text'],
  ['eq(is_root, 1)', 13, 'expected true or false'],
  ['gt(is_root, true)', 1, '"is_root" does not take gt(…)'],
  ['eq(id, "a")', 8, 'expected a UUID'],
  ['eq(start_time, "soon")', 16, 'expected a time'],
  ['gt(latency, "5 parsecs")', 13, 'expected seconds'],
  ['gt(total_tokens, "5")', 18, 'expected a number'],
  ['gt(total_tokens, 1e999)', 18, 'expected a number'],
  ['gt(total_tokens, null)', 18, 'cannot take null'],
  ['gt(total_cost, 1e99)', 16, 'below 10^20'],
  ['eq(metadata_value, null)', 20, 'cannot take null'],
  [
    'and(eq(metadata_key, "a"), eq(metadata_key, "b"), eq(metadata_value, "x"))',
    1,
    '2 conditions on metadata_key and 1 on metadata_value',
  ],
  ['search()', 1, 'expected search("text")'],
  ['search(latency, "x")', 1, '"latency" does not take search(…)'],
  ['exists(metadata)', 1, 'expected exists(metadata, "key")'],
  ['exists(name, "a")', 1, 'expected exists(field)'],
]

function refusal(expression: string): unknown {
  try {
    return parseFilter(expression)
  } catch (error) {
    return error
  }
}

describe('parseFilter', () => {
  it.each(EXPRESSIONS)('reads %s', (expression, expected) => {
    expect(parseFilter(expression)).toEqual(expected)
  })

  it.each(ENTRIES)('reads %s as one on metadata entries', (expression, expected) => {
    expect(parseFilter(expression)).toEqual(expected)
  })

  it.each(FAULTS)('refuses %s at character %i', (expression, at, message) => {
    const error = refusal(expression)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'invalid_request', details: { at } })
    expect((error as AppError).message).toContain(`at character ${at}: `)
    expect((error as AppError).message).toContain(message)
  })

  it('accepts 32 levels, 200 conditions and 8,192 characters, and no more', () => {
    const nested = (levels: number) => `${'not('.repeat(levels - 1)}eq(name, "a")${')'.repeat(levels - 1)}`
    const wide = (calls: number) => `or(${Array.from({ length: calls - 1 }, () => 'eq(name,"a")').join(',')})`
    const long = (length: number) => `eq(name, "${'a'.repeat(length - 'eq(name, "")'.length)}")`
    expect(parseFilter(nested(32))).toMatchObject({ kind: 'not' })
    expect(refusal(nested(33))).toMatchObject({ message: expect.stringContaining('nested more than 32') })
    expect(parseFilter(wide(200))).toMatchObject({ kind: 'or', of: { length: 199 } })
    expect(refusal(wide(201))).toMatchObject({ message: expect.stringContaining('more than 200') })
    expect(parseFilter(long(8192))).toMatchObject({ kind: 'compare' })
    expect(refusal(long(8193))).toMatchObject({ message: expect.stringContaining('8193 characters') })
  })
})

describe('any text', () => {
  const token = fc.constantFrom(
    ...'and( or( not( eq( neq( gt( in( has( search( exists( ( ) [ ] , " \' \\ { } : name tags metadata is_root'.split(
      ' ',
    ),
    'metadata_key',
    'metadata_value',
    'latency',
    'total_cost',
    'start_time',
    '"a"',
    '\'{"k":1}\'',
    '1',
    '-1e9',
    '5s',
    'null',
    'true',
    '2026-11-20T12:00:00Z',
    '\0',
    '\ud800',
    '😀',
    '\\u',
    '\n',
  )
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.array(token, { maxLength: 60 }).map((tokens) => tokens.join('')),
    fc.tuple(token, fc.integer({ min: 1, max: 8000 })).map(([one, times]) => one.repeat(times)),
  )

  it('is parsed, or refused with a position inside it', () => {
    fc.assert(
      fc.property(texts, (expression) => {
        const result = refusal(expression)
        if (!(result instanceof Error)) return
        expect(result).toBeInstanceOf(AppError)
        const { code, details } = result as AppError
        expect(code).toBe('invalid_request')
        const { at } = details as { at: number }
        expect(at).toBeGreaterThanOrEqual(1)
        expect(at).toBeLessThanOrEqual(expression.length + 1)
      }),
      tries(2000),
    )
  })

  it('is parsed in time linear in its length', () => {
    const hardest = [
      '"\\',
      '"',
      "'",
      'eq(',
      '[',
      'a',
      '1',
      '1e',
      '-',
      '.',
      ' ',
      '\\',
      'in(name,["a",',
      'eq(name,"a),',
    ]
    const heads = ['', 'eq(name, ', 'eq(name, "', 'in(name, ["a", ', 'eq(latency, "', `has(metadata, '`]
    expectCpuBelow(0.5, () => {
      for (const piece of hardest)
        for (const head of heads) refusal((head + piece.repeat(8192)).slice(0, 8192))
    })
  })
})
