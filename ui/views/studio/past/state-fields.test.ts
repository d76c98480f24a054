import { describe, expect, it } from 'vitest'
import { parseTyped } from '../../../api/typed-json.ts'
import { changedValues, stateFields, withTyped } from './state-fields.ts'

describe('the values of a state, edited in place', () => {
  const values = { topic: 'a\r\nb', n: 2, log: ['x'], big: 'y'.repeat(20_001) }

  it('are one field each, texts as they are and others as JSON, but not the large ones', () => {
    const { fields, large } = stateFields(values)
    expect(fields.map(({ name, text }) => [name, text])).toEqual([
      ['topic', 'a\r\nb'],
      ['n', '2'],
      ['log', '[\n  "x"\n]'],
    ])
    expect(large).toEqual(['big'])
    expect(stateFields(null)).toEqual({ fields: [], large: [] })
  })

  it('are written only where they were changed', () => {
    const { fields } = stateFields(values)
    const typed: Record<string, string> = { topic: 'a\nb', n: '3', log: '[\n  "x"\n]' }
    const read = (name: string): string => typed[name] ?? ''
    expect(changedValues(fields, read, parseTyped)).toEqual({ n: 3 })
    expect(withTyped({ n: 3, topic: 'c' }, { n: 4 })).toEqual({ n: 4, topic: 'c' })
    expect([withTyped({}, null), withTyped({}, ['x'])]).toEqual([null, ['x']])
    expect(() => changedValues(fields, (name) => (name === 'n' ? 'three' : read(name)), parseTyped)).toThrow(
      /^n/,
    )
  })
})
