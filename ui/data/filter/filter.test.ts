import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { tries } from '../../../test/support/properties.ts'
import { clauseText, joinFilter, searchedTexts, splitFilter, suggest } from './filter.ts'

describe('chips of a filter', () => {
  it('are the clauses that and() joins', () => {
    const filter = 'and(eq(run_type, "llm"), gt(latency, "5s"), or(eq(name, "a, b)"), has(tags, "x")))'
    const clauses = splitFilter(filter)
    expect(clauses).toEqual([
      'eq(run_type, "llm")',
      'gt(latency, "5s")',
      'or(eq(name, "a, b)"), has(tags, "x"))',
    ])
    expect(joinFilter(clauses)).toBe(filter)
    expect(clauses.map(clauseText)).toEqual(['run_type = llm', 'latency > 5s', clauses[2]])
  })

  it('are one for any other expression', () => {
    for (const text of ['or(eq(a, 1), eq(b, 2))', 'and(eq(a, 1)', 'and(eq(a, "x), eq(b, 2))', 'and(a,)'])
      expect(splitFilter(text)).toEqual([text])
    expect(splitFilter(' ')).toEqual([])
    expect(joinFilter(['eq(a, 1)'])).toBe('eq(a, 1)')
  })

  it('that are suggested for a typed text are read by the server, in every script', () => {
    const typed = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constantFrom('日本語', 'مرحبا', 'a"b\\', "o'c"),
    )
    fc.assert(
      fc.property(typed, (text) => {
        fc.pre(text.trim() !== '' && !/^\w+\s*\(/.test(text.trim()))
        const clauses = suggest(text).map(({ clause }) => clause)
        for (const clause of clauses) expect(parseFilter(clause)).toBeDefined()
        const filter = joinFilter(clauses.slice(0, 3))
        expect(parseFilter(filter)).toBeDefined()
        expect(splitFilter(filter)).toEqual(clauses.slice(0, 3))
      }),
      tries(100),
    )
  })

  it('for several words search for all of them in any order, then for exactly the text', () => {
    const [all, exactly] = suggest(' empty box  box ')
    expect([all?.clause, all?.hint]).toEqual(['and(search("empty"), search("box"))', 'all of these words'])
    expect([exactly?.clause, exactly?.hint]).toEqual(['search("empty box  box")', 'exactly this text'])
    expect(clauseText(all?.clause ?? '')).toBe('text “empty” and text “box”')
    expect(searchedTexts(joinFilter(['eq(run_type, "llm")', ...splitFilter(all?.clause ?? '')]))).toEqual([
      'empty',
      'box',
    ])
    expect(searchedTexts('or(search("a"), search("b"))')).toEqual([])
    expect(suggest('box')[0]?.clause).toBe('search("box")')
  })

  it('are suggested before anything is typed', () => {
    for (const { clause } of suggest('')) expect(parseFilter(clause)).toBeDefined()
  })
})
