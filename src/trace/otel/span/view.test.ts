import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../schema/json.ts'
import type { OtelSpan } from './span.ts'
import { listOf, unflatten, viewSpan } from './view.ts'

function spanWith(attributes: JsonObject): OtelSpan {
  return {
    trace_id: '',
    span_id: '',
    name: '',
    kind: 0,
    scope: {},
    resource: {},
    attributes,
    events: [],
    status: { code: 0 },
    logs: [],
  }
}

describe('unflatten', () => {
  it('makes lists of numbered keys, in the order of their numbers, and objects of the rest', () => {
    const entries = [
      ['10.role', 'c'],
      ['2.role', 'b'],
      ['0.calls.0.id', 'x'],
      ['0.role', 'a'],
    ] as const
    expect(unflatten(entries)).toEqual([{ calls: [{ id: 'x' }], role: 'a' }, { role: 'b' }, { role: 'c' }])
  })

  it('keeps the branch if a key is both a value and the start of longer keys', () => {
    expect(
      unflatten([
        ['a', 1],
        ['a.b', 2],
      ]),
    ).toEqual({ a: { b: 2 } })
    expect(
      unflatten([
        ['a.b', 2],
        ['a', 1],
      ]),
    ).toEqual({ a: { b: 2 } })
  })

  it('gives __proto__ no effect', () => {
    const made = unflatten([
      ['__proto__.polluted', true],
      ['a.__proto__', 1],
      ['b', 2],
    ]) as JsonObject
    expect(made).toEqual({ a: {}, b: 2 })
    expect('polluted' in {}).toBe(false)
  })

  it('goes no deeper than its bound', () => {
    expect(() => unflatten([['a.'.repeat(100_000), 1]])).not.toThrow()
  })
})

describe('viewSpan', () => {
  it('reads values, text, numbers and JSON by the first key that has them', () => {
    const view = viewSpan(
      spanWith({ a: null, b: '', c: 'text', d: '12.5', e: '{"x":1}', f: 3, constructor: 1 }),
    )
    expect(view.get('a')).toBeUndefined()
    expect(view.get('toString')).toBeUndefined()
    expect(view.get('constructor')).toBe(1)
    expect(view.text('a', 'b', 'c')).toBe('text')
    expect(view.number('c', 'd', 'f')).toBe(12.5)
    expect(view.json('a', 'e')).toEqual({ x: 1 })
    expect(view.json('c')).toBe('text')
  })

  it('groups the attributes of a family; only numbered ones are in its list', () => {
    const view = viewSpan(
      spanWith({
        'gen_ai.prompt': 'x',
        'gen_ai.prompt.1.role': 'user',
        'gen_ai.prompt.filter': [],
        'gen_ai.prompts.0': 1,
      }),
    )
    expect(view.group('gen_ai.prompt')).toEqual([
      ['1.role', 'user'],
      ['filter', []],
    ])
    expect(listOf(view, 'gen_ai.prompt')).toEqual([{ role: 'user' }])
    expect(listOf(view, 'llm.tools')).toEqual([])
  })
})
