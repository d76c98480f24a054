import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../test/support/cpu-bound.ts'
import { compilePricePattern } from './pattern.ts'
import { tries } from '../../../test/support/properties.ts'
import { someInShort } from '../../../test/support/length.ts'

function matches(source: string, model: string): boolean {
  const pattern = compilePricePattern(source)
  if ('error' in pattern) throw new Error(`${source} ${pattern.error}`)
  return pattern.test(model)
}

describe('patterns of price entries', () => {
  it.each([
    ['^gpt-4o(-2024-(05-13|08-06))?$', 'gpt-4o-2024-08-06', true],
    ['^gpt-4o(-2024-(05-13|08-06))?$', 'gpt-4o-mini', false],
    ['gpt-4o', 'openai/gpt-4o-mini', true],
    ['(?i)^Claude[-_.]3', 'claude-3-opus', true],
    ['(?i)^[A-Z]+$', 'abc', true],
    [String.raw`^o\d(-mini|-pro)?\b`, 'o3-mini-2025', true],
    [String.raw`claude-\d{8}`, 'claude-20250514', true],
    [String.raw`claude-\d{8}$`, 'claude-2025051', false],
    [String.raw`^us\.anthropic\..*-v1:0$`, 'us.anthropic.claude-v1:0', true],
    ['^[^/]+/[^/]+$', 'a/b/c', false],
    ['', 'anything', true],
    ['a{2,3}?b', 'xaab', true],
    ['^(a|)*$', 'aaa', true],
    ['(a*)*$', 'b', true],
  ])('%s on %s is %s', (source, model, expected) => {
    expect(matches(source, model)).toBe(expected)
  })

  it.each([
    '(',
    ')',
    '[a',
    'a**',
    '*a',
    '(?=a)',
    '(?<n>a)',
    String.raw`\1`,
    String.raw`\p{L}`,
    'a{3,2}',
    'a{x}',
    '\\',
    '^*',
  ])('describes the error in %s', (source) => {
    expect(compilePricePattern(source)).toEqual({ error: expect.stringMatching(/\w/) })
  })

  it('refuses patterns that grow beyond the bound', () => {
    expect(compilePricePattern('((a{99}){99}){99}')).toEqual({ error: expect.stringContaining('too large') })
    expect(compilePricePattern('('.repeat(200) + ')'.repeat(200))).toHaveProperty('error')
    expect(compilePricePattern('a'.repeat(600))).toHaveProperty('error')
  })

  it.each(someInShort(['(a+)+$', '(a|aa)+$', '(.*)*x', '(a?){20}a{20}$', String.raw`([a-z]+)*\d`], 2))(
    'matches %s on a hostile name in linear time',
    (source) => {
      expectCpuBelow(2, () => {
        for (let i = 0; i < 20; i++) matches(source, `${'a'.repeat(100_000)}!`)
      })
    },
  )

  it('matches what RegExp matches', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '-',
      '.',
      '[ab]',
      '[^a]',
      '[a-c]',
      String.raw`\d`,
      String.raw`\w`,
      '1',
    )
    const { node } = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc.tuple(tie('node'), tie('node')).map((two) => two.join('')),
        fc.tuple(tie('node'), tie('node')).map((two) => `(${two.join('|')})`),
        fc
          .tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,}', '*?'))
          .map(([inner, suffix]) => `(?:${inner})${suffix}`),
      ),
    }))
    const source = fc
      .tuple(fc.constantFrom('', '^', String.raw`\b`), node, fc.constantFrom('', '$', String.raw`\B`))
      .map((parts) => parts.join(''))
    const model = fc
      .array(fc.constantFrom('a', 'b', 'c', '1', '-', 'A'), { maxLength: 8 })
      .map((it) => it.join(''))
    fc.assert(
      fc.property(source, model, (pattern, name) => {
        expect(matches(pattern, name)).toBe(new RegExp(pattern, 'u').test(name))
      }),
      tries(1000),
    )
  })
})
