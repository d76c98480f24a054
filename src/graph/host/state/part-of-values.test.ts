import { AIMessage } from '@langchain/core/messages'
import { describe, expect, it } from 'vitest'
import { partOfValues } from './part-of-values.ts'

const values = {
  messages: [new AIMessage({ id: 'a', content: 'x'.repeat(1000) }), { role: 'user', content: 'no id' }],
  deep: { one: { two: 2, three: 3 }, list: [[{ n: 1, m: 2 }], 5, null] },
  large: 'y'.repeat(1000),
}

describe('a part of the values of a state (N16)', () => {
  it('is one field, or the fields of each item of a list', () => {
    expect(partOfValues(values, ['values.messages'])).toEqual({ messages: values.messages })
    expect(partOfValues(values, ['values.messages.id'])).toEqual({ messages: [{ id: 'a' }, {}] })
    expect(partOfValues(values, ['values.messages.id', 'values.messages.type'])).toEqual({
      messages: [{ id: 'a', type: 'ai' }, {}],
    })
    expect(partOfValues(values, ['values.deep.one.two', 'values.deep.list.n'])).toEqual({
      deep: { one: { two: 2 }, list: [[{ n: 1 }], 5, null] },
    })
  })

  it('is the whole field when that is selected too, and has no field that is not there', () => {
    expect(partOfValues(values, ['values.deep.one', 'values.deep'])).toEqual({ deep: values.deep })
    expect(partOfValues(values, ['values.none', 'values.none.below', 'values.__proto__'])).toEqual({})
    expect(partOfValues('text', ['values.none'])).toBe('text')
    expect(partOfValues(values, ['next', 'valuesx.a'])).toBeUndefined()
  })
})
