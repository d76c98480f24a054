import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFilter } from '../../../../src/trace/filter/filter.ts'
import { tries } from '../../../../test/support/properties.ts'
import { facetOf, facetOffers, facetTextOf } from './facet-text.ts'
import { clauseText } from '../filter.ts'

describe('N8: a text that asks for values', () => {
  it.each([
    ['model: gpt ', { field: 'model', prefix: 'gpt' }],
    ['type:', { field: 'run_type', prefix: '' }],
    ['metadata: e', { field: 'metadata_key', prefix: 'e' }],
    ['metadata.user.id: a:b', { field: 'metadata_value', key: 'user.id', prefix: 'a:b' }],
  ])('%s', (typed, asked) => {
    expect(facetOf(typed)).toMatchObject(asked)
  })

  it.each(['model', 'Error: timeout', 'http://x', 'metadata.: x', 'eq(name, "a: b")', 'constructor: x', ''])(
    'is not %s',
    (typed) => expect(facetOf(typed)).toBeUndefined(),
  )

  it('makes clauses that the server reads and chips that ask for the same field again, for any value', () => {
    const words = ['name: ', 'type: ', 'tag: ', 'issue: ', 'metadata.en"v: ', 'model: ']
    fc.assert(
      fc.property(fc.constantFrom(...words), fc.string({ unit: 'grapheme', minLength: 1 }), (word, value) => {
        const clause = facetOf(word)!.clauseOf(value)
        expect(parseFilter(clause)).toBeDefined()
        expect(facetTextOf(clause)).toBe(word)
      }),
      tries(100),
    )
    expect(parseFilter(facetOf('metadata.env: ')!.clauseOf('pro"d'))).toEqual(
      parseFilter('and(eq(metadata_key, "env"), eq(metadata_value, "pro\\"d"))'),
    )
  })

  it('is offered by the beginning of its word, and chosen from the keys of the metadata', () => {
    expect(facetOffers('').length).toBeGreaterThan(5)
    expect(facetOffers('mo')).toEqual([{ clause: 'model: ', hint: 'by model' }])
    expect(facetOf(facetOf('metadata: ')!.clauseOf('env'))).toMatchObject({
      field: 'metadata_value',
      key: 'env',
    })
  })

  it('has readable chips', () => {
    expect(clauseText('has(metadata, "{\\"env\\": \\"prod\\"}")')).toBe('metadata.env = prod')
    expect(clauseText('has(metadata, "{")')).toBe('metadata has {')
    expect(facetTextOf('gt(latency, "5s")')).toBeUndefined()
    expect(facetTextOf('or(eq(a, 1), eq(b, 2))')).toBeUndefined()
  })
})
